internal import Engine
internal import Wire

/// A peer on one connection: its knowledge from events, its pending requests, and the checks of what it receives.
final class PeerSession: CustomStringConvertible {
    let number: Int
    unowned let peer: SimulatedPeer
    unowned let world: World
    let ticket: JoinTicket
    private(set) var connection: SimulatedConnection! = nil
    /// Its handle in the gateway, once admitted.
    var handle: ParticipantHandle?
    /// The connection is closed.
    private(set) var isOver = false

    // Knowledge from events.
    var hello: Hello?
    /// State of the previous connection if it tries to resume; and whether the resume succeeded.
    var resumeState: ResumeState?
    var isResumed = false
    var joinedAt = World.start
    var receivedBye = false
    var lastSeq: UInt64 = 0
    var permission: Permission
    var others: Set<Identity> = []
    /// Known tracks with publisher and alias.
    var tracks: [TrackSID: (participant: Identity, alias: TrackAlias)] = [:]
    /// The same in order of arrival, for random choices.
    var trackOrder: [TrackSID] = []
    /// The last track with each alias, published or ended.
    var named: [UInt16: TrackSID] = [:]
    var talking: Set<TrackSID> = []
    var lastLeft: Identity?
    var revisions: [String: Int] = [:]
    var lastData: [Identity: Int] = [:]
    /// The last received frame of each track.
    var lastReceived: [TrackSID: Int] = [:]
    /// Where live frames begin after earlier ones.
    var liveFrom: [TrackSID: MediaTime] = [:]
    /// Tracks received on the previous connection only.
    var receivedBeforeResume: Set<TrackSID> = []
    var receivedRequired: Set<Int> = []

    // Requests.
    var published: [OwnTrack] = []
    var pendingRequests: [UInt64: PendingRequest] = [:]
    var lastID: UInt64 = 0
    var unreadableSent = 0
    var unreadableAnswered = 0
    var lastHold: UInt64 = 0
    var isLeaving = false
    var isHeld = false
    /// When the gateway confirmed hold: no frames sent later may arrive.
    var holdSince: Instant?
    /// When its permission to subscribe ended.
    var forbiddenSince: Instant?
    /// When unsubscribing from a track was confirmed.
    var unsubscribedSince: [TrackSID: Instant] = [:]
    var lastSubscribe: [TrackSID: UInt64] = [:]
    /// Epochs and playout buffers of `ahead` tracks.
    var epochs: [TrackSID: UInt8] = [:]
    var players: [TrackSID: Player] = [:]
    /// Resubscribed tracks without a received frame since.
    var resubscribed: Set<TrackSID> = []
    /// Pending marks.
    var marks: Set<String> = []
    var lastMark = 0
    /// Tracks with an utterance in progress.
    var playing: Set<TrackSID> = []
    /// Liveness phase: it subscribes to every track at once.
    var isSettling = false

    init(number: Int, peer: SimulatedPeer, ticket: JoinTicket, shard: Int) {
        self.number = number
        self.peer = peer
        self.world = peer.world
        self.ticket = ticket
        permission = ticket.admission.permission
        switch world.phase {
        case .chaos: break
        default: isSettling = true
        }
        connection = SimulatedConnection(number: world.connections.count, shard: shard, session: self, world: world, swarm: world.swarm)
        if isSettling { connection.heal() }
    }

    var description: String { "\(peer.identity)#\(number)" }

    // MARK: Connecting

    /// The upgrade request has reached the gateway.
    func upgrade() {
        guard !isOver, !connection.isPeerGone, !world.isEnding else { return end() }
        let shard = world.shards[connection.shard]
        guard !shard.rejects(ticket) else { return end() }
        shard.wasUpgraded(connection)
        world.schedule.add(.keepsAlive(session: number), at: world.now + .seconds(5))
    }

    /// Disconnects with a reset, or silently.
    func disconnect(isReset: Bool) {
        guard !isOver else { return }
        connection.disconnect(isReset: isReset)
        end()
    }

    func closeNormally() {
        guard !isOver else { return }
        connection.send(.close(1000))
        connection.isPeerGone = true
        end()
    }

    private func end() {
        guard !isOver else { return }
        isOver = true
        peer.lost(self)
    }

    func keepAlive() {
        guard !isOver else { return }
        world.schedule.add(.keepsAlive(session: number), at: world.now + .seconds(5))
        connection.send(.text(OutgoingRequest(.ping(1)).bytes))
    }

    // MARK: Reading

    func take(_ message: SocketMessage) {
        guard !isOver else { return }
        switch message {
        case .text(let bytes): take(text: bytes)
        case .binary(let bytes): take(binary: bytes)
        case .ping(let number): connection.send(.pong(number))
        case .close(let code):
            world.log("\(self) is closed with \(code)")
            connection.isPeerGone = true
            end()
        case .pong, .broken: break
        }
    }

    private func take(text bytes: [UInt8]) {
        let message: ServerMessage
        do {
            message = try ServerMessage(parsing: bytes)
        } catch {
            return world.fail("\(self) cannot read \(String(decoding: bytes, as: UTF8.self)): \(error)")
        }
        world.expect(!receivedBye, "\(self) receives a message after bye")
        switch message {
        case .event(let event, let seq): take(event, seq: seq)
        case .reply(let id, let fields): take(id, fields)
        case .error(let id, let error): take(id, error)
        case .unknownEvent(let type, _): world.fail("\(self) receives an unknown event \(type)")
        }
    }

    private func take(binary bytes: [UInt8]) {
        guard bytes.first == FrameKind.bundle.rawValue else { return receive(bytes) }
        switch FrameReading.frames(in: bytes) {
        case .success(let frames): for frame in frames { receive(frame) }
        case .failure(let error): world.fail("\(self) receives a malformed bundle: \(error)")
        }
    }
}
