/*
 * Functions that platforms share: they read settings, and create zones with the interface of the
 * installed SimGrid.
 */
#ifndef SIMULATE_ZONES_HPP
#define SIMULATE_ZONES_HPP

#include <cstdlib>
#include <simgrid/s4u.hpp>
#include <simgrid/version.h>
#include <string>

/* Returns the number in the environment variable NAME, or OTHERWISE. */
[[maybe_unused]] static double setting(const char *name, double otherwise) {
    const char *text = std::getenv(name);
    return text ? std::atof(text) : otherwise;
}

#if SIMGRID_VERSION_MAJOR >= 4
/* SimGrid 4 has a root zone around the outermost one. */
static inline simgrid::s4u::NetZone *root() {
    return simgrid::s4u::Engine::get_instance()->get_netzone_root();
}

[[maybe_unused]] static simgrid::s4u::NetZone *outer_star(const std::string &name) {
    return root()->add_netzone_star(name);
}

[[maybe_unused]] static simgrid::s4u::NetZone *outer_full(const std::string &name) {
    return root()->add_netzone_full(name);
}

[[maybe_unused]] static simgrid::s4u::NetZone *inner_star(simgrid::s4u::NetZone *parent,
                                                          const std::string &name) {
    return parent->add_netzone_star(name);
}
#else
[[maybe_unused]] static simgrid::s4u::NetZone *outer_star(const std::string &name) {
    return simgrid::s4u::create_star_zone(name);
}

[[maybe_unused]] static simgrid::s4u::NetZone *outer_full(const std::string &name) {
    return simgrid::s4u::create_full_zone(name);
}

[[maybe_unused]] static simgrid::s4u::NetZone *inner_star(simgrid::s4u::NetZone *parent,
                                                          const std::string &name) {
    return simgrid::s4u::create_star_zone(name)->set_parent(parent);
}
#endif

#endif
