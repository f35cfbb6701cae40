// Where surfaces touch each other and colliders: needles along the normal, whose length shows the
// force and whose colour says whether friction holds the contact. Those behind other surfaces, as
// between the layers of a cloth, are drawn through them, fainter.
#ifndef TAUT_PICTURE_CONTACTS_H
#define TAUT_PICTURE_CONTACTS_H

#include "picture/context.h"

struct contacts {
    GLuint program, vertices, list;
};

taut_status contacts_make(struct contacts *contacts, taut_error *error);
void contacts_free(struct contacts *contacts);

// The colour of contacts by their friction (taut_contact_friction).
struct colour contacts_colour(int friction);

// N, of a needle of full length: that of the options, or a round number for the frame, which
// depends on all of its contacts and not on the greatest one; 0 without any.
double contacts_full_force(const struct render_options *options, const struct frame *frame);

// Pixels, of a needle of full length.
double contacts_full_length(const struct render_context *context);

void contacts_draw(const struct contacts *contacts, const struct render_context *context);

#endif
