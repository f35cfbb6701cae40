// Bullet's side of the comparison: a network written by taut_peer as one soft body with a link for
// each spring, one position iteration per step, no collisions. It serves requests like taut_peer.
//
//   bullet_peer FILE.bin     lines "THREADS STEPS"; always runs on one thread
#include <BulletSoftBody/btSoftBody.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <vector>

namespace
{

struct Network {
    std::uint64_t counts[2]; // nodes, springs
    double constants[2];     // dt, mass
    std::vector<double> positions;
    std::vector<char> pinned;
    std::vector<std::uint32_t> ends;
};

bool read(const char *path, Network &network)
{
    std::FILE *file = std::fopen(path, "rb");
    if (!file)
        return false;
    bool whole = std::fread(network.counts, sizeof network.counts, 1, file) == 1 &&
                 std::fread(network.constants, sizeof network.constants, 1, file) == 1;
    if (whole) {
        network.positions.resize(3 * network.counts[0]);
        network.pinned.resize(network.counts[0]);
        network.ends.resize(2 * network.counts[1]);
        whole =
            std::fread(network.positions.data(), 3 * sizeof(double), network.counts[0], file) ==
                network.counts[0] &&
            std::fread(network.pinned.data(), 1, network.counts[0], file) == network.counts[0] &&
            std::fread(network.ends.data(), 2 * sizeof(std::uint32_t), network.counts[1], file) ==
                network.counts[1];
    }
    std::fclose(file);
    return whole;
}

std::unique_ptr<btSoftBody> make(const Network &network, btSoftBodyWorldInfo &world)
{
    std::vector<btVector3> nodes;
    std::vector<btScalar> masses;
    nodes.reserve(network.counts[0]);
    masses.reserve(network.counts[0]);
    for (std::size_t i = 0; i < network.counts[0]; i++) {
        const double *p = &network.positions[3 * i];
        nodes.emplace_back(btScalar(p[0]), btScalar(p[1]), btScalar(p[2]));
        masses.push_back(network.pinned[i] ? 0 : btScalar(network.constants[1]));
    }
    auto body =
        std::make_unique<btSoftBody>(&world, int(nodes.size()), nodes.data(), masses.data());
    body->m_cfg.piterations = 1;
    body->m_cfg.viterations = 0;
    body->m_cfg.diterations = 0;
    body->m_cfg.citerations = 0;
    body->m_cfg.collisions = 0;
    body->m_materials[0]->m_kLST = 1;
    for (std::size_t s = 0; s < network.counts[1]; s++)
        body->appendLink(int(network.ends[2 * s]), int(network.ends[2 * s + 1]), nullptr, false);
    return body;
}

} // namespace

int main(int argc, char **argv)
{
    Network network;
    if (argc != 2 || !read(argv[1], network)) {
        std::fprintf(stderr, "usage: bullet_peer FILE.bin, as taut_peer writes it\n");
        return 2;
    }
    btSoftBodyWorldInfo world;
    world.m_gravity = btVector3(0, btScalar(-9.81), 0);
    auto body = make(network, world);
    std::printf("%llu %llu %.17g 0\n", (unsigned long long)network.counts[0],
                (unsigned long long)network.counts[1], network.constants[0]);
    std::fflush(stdout);
    unsigned threads;
    unsigned long long steps;
    while (std::scanf("%u %llu", &threads, &steps) == 2) {
        auto begin = std::chrono::steady_clock::now();
        for (unsigned long long step = 0; step < steps; step++) {
            body->predictMotion(btScalar(network.constants[0]));
            body->solveConstraints();
            body->integrateMotion();
        }
        std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
        std::printf("%.9g\n", seconds.count());
        std::fflush(stdout);
    }
    return 0;
}
