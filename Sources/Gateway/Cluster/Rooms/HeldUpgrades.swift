internal import Backend
internal import Cluster
internal import Engine
internal import HTTPServer
internal import HTTPTypes
internal import Logging
internal import Sockets
internal import Wire

/// Where an upgrade leads, as its token says.
struct UpgradeDestination {
    /// The coordinator's for a channel.
    let room: String
    /// Nil if the room's home decides alone.
    var check: JoinCheck?
    /// It is an attempt to resume.
    var resumes = false
}

/// Upgrades of clients that wait until it is known which node is the home of their room, and whether the coordinator admits them.
///
/// If it is another node, the connection is forwarded to it. If that node does not answer, the cluster is asked again, until it has another home or
/// the client has waited for `patience`, which is longer than the silence after which other nodes take over a node's rooms, and shorter than the
/// 5 s that clients wait for a resume.
final class HeldUpgrades {
    private struct Waiting {
        let upgrade: HeldUpgrade
        let destination: UpgradeDestination
        let since: Instant
        /// The cluster has been asked once.
        var isRepeated = false
        /// The home to which the connection is being forwarded.
        var home: String?
        /// The home that did not answer.
        var unreachable: String?
        /// When the cluster is asked again; nil while it is asked, or while the connection is being forwarded.
        var askAt: Instant?
    }

    private static var patience: Duration { .seconds(4) }
    private static var retryInterval: Duration { .milliseconds(100) }

    private let context: ShardContext
    private let admission: ConnectionAdmission
    private var waiting: [Int: Waiting] = [:]
    private var lastNumber = 0

    init(_ context: ShardContext, _ admission: ConnectionAdmission) {
        self.context = context
        self.admission = admission
    }

    /// - Returns: whether the upgrade waits; false if this node is to serve, or refuse, it whatever others do.
    func hold(_ upgrade: HeldUpgrade) -> Bool {
        guard let cluster = context.gateway.cluster, let destination = admission.destination(of: upgrade.request),
            !cluster.isHome(of: destination.room) || (destination.check != nil && !cluster.isHome(of: RoomHomes.coordinatorRoom))
        else { return false }
        lastNumber += 1
        upgrade.context = Number(lastNumber)
        waiting[lastNumber] = Waiting(upgrade: upgrade, destination: destination, since: context.now)
        ask(lastNumber)
        context.wake(within: Self.retryInterval)
        return true
    }

    private final class Number {
        let value: Int
        init(_ value: Int) { self.value = value }
    }

    private func ask(_ number: Int) {
        guard let entry = waiting[number], let cluster = context.gateway.cluster else { return }
        waiting[number]?.askAt = nil
        waiting[number]?.isRepeated = true
        let completion = { @Sendable [mailbox = context.mailbox] (place: ClusterRooms.Place) in
            _ = mailbox.send(.cluster(.located(upgrade: number, place)))
        }
        // A node takes the room if another one has chosen it, or if the node that it has chosen itself did not.
        if entry.isRepeated || entry.upgrade.request.hops > 0 {
            cluster.locate(entry.destination.room, completion: completion)
        } else {
            cluster.place(entry.destination.room, completion: completion)
        }
    }

    func located(_ number: Int, _ place: ClusterRooms.Place) {
        guard waiting[number] != nil else { return }
        switch place {
        case .here: check(number)
        case .elsewhere(let home): pass(number, to: home)
        case .unavailable: retry(number)
        case .storeUnavailable: refuse(number, .storeUnavailable)
        case .draining:
            guard let substitute = context.gateway.cluster?.substitute else { return refuse(number, .draining) }
            pass(number, to: substitute)
        }
    }

    /// Asks the coordinator if it has to be asked.
    private func check(_ number: Int) {
        guard let entry = waiting[number] else { return }
        guard let check = entry.destination.check, let joins = context.gateway.joins,
            context.gateway.cluster?.isHome(of: RoomHomes.coordinatorRoom) == false
        else { return serve(number) }
        Task { [mailbox = context.mailbox] in
            let outcome = await joins.ask(check)
            _ = mailbox.send(.cluster(.checked(upgrade: number, outcome)))
        }
    }

    func checked(_ number: Int, _ outcome: JoinChecks.Outcome) {
        guard let entry = waiting[number], let check = entry.destination.check else { return }
        switch outcome {
        case .admitted:
            admission.admit(check)
            serve(number)
        case .refused(let error): refuse(number, error)
        case .unavailable where entry.destination.resumes: serve(number)
        case .unavailable: retry(number)
        }
    }

    private func serve(_ number: Int) { waiting.removeValue(forKey: number)?.upgrade.serve() }

    private func pass(_ number: Int, to home: NodeBeat) {
        guard let entry = waiting[number] else { return }
        let name = home.node.description
        // A forwarded connection is not forwarded again.
        if entry.upgrade.request.hops > 0 { return refuse(number, .homeUnavailable, elsewhere: name) }
        // The node that did not answer is not considered ended yet.
        guard entry.unreachable != name, let address = home.address.flatMap(NodeAddress.init) else {
            return retry(number)
        }
        waiting[number]?.home = name
        let serverName = context.gateway.settings.cluster?.serverName ?? address.host
        let local = context.gateway.cluster?.identity.description ?? ""
        entry.upgrade.forward(
            to: Endpoint(host: serverName, address: address.host, port: address.port), name: name, adding: [.patchbayNode: local])
    }

    /// Another node could not be reached, or has another home in mind.
    func failed(_ upgrade: HeldUpgrade, _ failure: ForwardFailure) {
        guard let number = (upgrade.context as? Number)?.value, let entry = waiting[number] else { return }
        context.log.debug("a connection was not passed on", metadata: ["room": "\(entry.destination.room)", "reason": "\(failure)"])
        switch failure {
        case .unreachable, .timedOut, .ended, .tls: waiting[number]?.unreachable = entry.home
        case .unavailable, .elsewhere, .badResponse, .alreadyForwarded: break
        }
        retry(number)
    }

    func abandoned(_ upgrade: HeldUpgrade) {
        if let number = (upgrade.context as? Number)?.value { waiting[number] = nil }
    }

    private func retry(_ number: Int) {
        guard let entry = waiting[number] else { return }
        guard context.now - entry.since < Self.patience else { return refuse(number, .homeUnavailable) }
        waiting[number]?.askAt = context.now + Self.retryInterval
        context.wake(within: Self.retryInterval)
    }

    private func refuse(_ number: Int, _ error: HTTPError, elsewhere: String? = nil) {
        guard let entry = waiting.removeValue(forKey: number) else { return }
        context.counters.joinsRefused[error.code.rawValue, default: 0] += 1
        var response = HTTPServerResponse(error)
        if let elsewhere { response.fields[.patchbayElsewhere] = elsewhere }
        entry.upgrade.refuse(response)
    }

    // MARK: Time and nodes

    func tick() {
        for (number, entry) in waiting {
            if entry.upgrade.isSettled {
                waiting[number] = nil
            } else if context.now - entry.since >= Self.patience {
                refuse(number, .homeUnavailable)
            } else if let askAt = entry.askAt, askAt <= context.now {
                ask(number)
            }
        }
        if !waiting.isEmpty { context.wake(within: Self.retryInterval) }
    }

    /// Breaks the tunnels to a node. Their clients resume, and this node looks up the homes of their rooms again.
    func nodeEnded(_ name: String) {
        context.loop.endTunnels(to: name)
    }
}
