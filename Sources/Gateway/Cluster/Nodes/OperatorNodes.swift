internal import Backend
internal import Cluster
internal import HTTPServer

/// The state of all running nodes, for operators, and the choice of the node that responds to a request.
struct OperatorNodes: Sendable {
    struct Running: Sendable {
        var local: NodeBeat
        var others: [NodeBeat]
        /// By its name in the cluster; nil if it is not known.
        var coordinator: String?
    }

    /// This node's name in the configuration.
    let name: String
    /// Nil for a gateway that runs alone.
    let running: (@Sendable () -> Running)?

    /// - Parameter wanted: a name as in the configuration; nil for any node.
    /// - Throws: `HTTPError.elsewhere` for another running node, so that the request is forwarded to it; `nodeNotFound`.
    func check(_ wanted: String?) throws(HTTPError) {
        guard let wanted, wanted != name else { return }
        let others = running?().others ?? []
        // A node that has been restarted has the name of the process before, which may drain or have ended just now.
        let found = others.filter { $0.node.name == wanted }.min { ($0.isDraining ? 1 : 0, $0.number) < ($1.isDraining ? 1 : 0, $1.number) }
        if let found { throw .elsewhere(found.node.description) }
        let names = Set(others.map(\.node.name)).union([name]).sorted().joined(separator: ", ")
        throw HTTPError(.nodeNotFound, "no node of this name runs; those that do: \(names)")
    }

    /// All nodes by name; nil for a gateway that runs alone.
    var views: [NodeView]? {
        guard let running = running?() else { return nil }
        return (running.others + [running.local]).sorted { $0.node.name < $1.node.name }
            .map { NodeView($0, isCoordinator: $0.node.description == running.coordinator) }
    }
}

extension OperatorNodes {
    init(_ context: GatewayContext) {
        guard let cluster = context.cluster, let coordination = context.coordination else {
            self.init(name: context.settings.nodeName, running: nil)
            return
        }
        self.init(name: cluster.identity.name) { [state = context.state] in
            Running(
                local: cluster.ownBeat(isDraining: state.phase >= .draining), others: cluster.others,
                coordinator: coordination.knownCoordinator)
        }
    }
}

extension NodeView {
    fileprivate init(_ beat: NodeBeat, isCoordinator: Bool) {
        self.init(
            name: beat.node.name, url: beat.url, build: beat.build, draining: beat.isDraining, load: beat.load.busiest,
            rooms: beat.load.rooms, participants: beat.load.participants, coordinator: isCoordinator)
    }
}
