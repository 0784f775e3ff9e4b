package import HTTPServer

/// A node of a cluster.
package struct NodeView: Encodable, Sendable, Hashable, Described {
    package var name: String
    /// Where clients reach the node itself; absent if only a load balancer does.
    package var url: String?
    /// The version of its program.
    package var build: String
    package var draining: Bool
    /// The busiest shard, from 0 to 1.
    package var load: Double
    /// Absent for a node of an earlier version, which does not say.
    package var rooms: Int?
    package var participants: Int?
    /// Whether it serves users' channels, calls and dispatch.
    package var coordinator: Bool

    package init(
        name: String, url: String? = nil, build: String, draining: Bool = false, load: Double, rooms: Int? = nil, participants: Int? = nil,
        coordinator: Bool = false
    ) {
        (self.name, self.url, self.build, self.draining) = (name, url, build, draining)
        (self.rooms, self.participants, self.coordinator) = (rooms, participants, coordinator)
        self.load = (load * 1_000).rounded() / 1_000
    }

    package static let schema = Schema.named(
        "Node",
        .object([
            .required("name", .text), .optional("url", .text), .required("build", .text), .required("draining", .boolean),
            .required("load", .number(0...1)), .optional("rooms", .count), .optional("participants", .count),
            .required("coordinator", .boolean),
        ]))
}
