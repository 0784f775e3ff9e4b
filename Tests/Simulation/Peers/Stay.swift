internal import Engine
internal import Wire

/// A peer on one connection: what it has been told, what it has asked, and all that it must never see.
final class Stay: CustomStringConvertible {
    let number: Int
    unowned let peer: SimulatedPeer
    unowned let world: World
    let ticket: JoinTicket
    private(set) var line: Line! = nil
    /// As the gateway calls it, once it is let in.
    var handle: ParticipantHandle?
    /// Nothing more comes or goes.
    private(set) var isOver = false

    // What it has been told.
    var hello: Hello?
    /// What it remembers of the connection before, if it wants to go on from there; and whether it does.
    var inheritance: Inheritance?
    var isResumed = false
    var welcomedAt = World.start
    var isDismissed = false
    var lastSeq: UInt64 = 0
    var permission: Permission
    var others: Set<Identity> = []
    /// Tracks that were named and have not ended: of whom, and under which alias.
    var tracks: [TrackSID: (participant: Identity, alias: TrackAlias)] = [:]
    /// The same in the order in which they came, for what is drawn.
    var trackOrder: [TrackSID] = []
    /// The last track that was named by that alias, be it over.
    var named: [UInt16: TrackSID] = [:]
    var talking: Set<TrackSID> = []
    var lastLeft: Identity?
    var revisions: [String: Int] = [:]
    var lastData: [Identity: Int] = [:]
    /// The last frame of each track that was heard.
    var lastHeard: [TrackSID: Int] = [:]
    /// Those that it has heard on the connection before only.
    var heardBefore: Set<TrackSID> = []
    var mustHaveHeard: Set<Int> = []

    // What it has asked.
    var published: [OwnTrack] = []
    var asked: [UInt64: Asked] = [:]
    var lastID: UInt64 = 0
    var unreadableSent = 0
    var unreadableAnswered = 0
    var lastHold: UInt64 = 0
    var isLeaving = false
    var isHeld = false
    /// Since when nothing may be heard, because the gateway has said so.
    var deafSince: Instant?
    /// Since when the token's grant, or what an administrator left of it, forbids to hear.
    var forbiddenSince: Instant?
    /// Since when a track may not be heard.
    var unsubscribedSince: [TrackSID: Instant] = [:]
    var lastSubscribe: [TrackSID: UInt64] = [:]
    /// Epochs of `ahead` tracks, and what of them is playing.
    var epochs: [TrackSID: UInt8] = [:]
    var players: [TrackSID: Player] = [:]
    /// Tracks that it has asked to hear again, and has not heard since.
    var listensAnew: Set<TrackSID> = []
    /// Marks that wait for their answer.
    var marks: Set<String> = []
    var lastMark = 0
    /// Utterances that have begun and not ended.
    var playing: Set<TrackSID> = []
    /// It asks for all that it wants as soon as it is told of it.
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
        line = Line(number: world.lines.count, shard: shard, stay: self, world: world, swarm: world.swarm)
        if isSettling { line.heal() }
    }

    var description: String { "\(peer.identity)#\(number)" }

    // MARK: Connecting

    /// The upgrade has come to the gateway.
    func upgrade() {
        guard !isOver, !line.isPeerGone, !world.isEnding else { return end() }
        let shard = world.shards[line.shard]
        guard !shard.refuses(ticket) else { return end() }
        shard.wasUpgraded(line)
        world.agenda.add(.keepsAlive(stay: number), at: world.now + .seconds(5))
    }

    /// It breaks, or is gone without a word.
    func breakOff(isTold: Bool) {
        guard !isOver else { return }
        line.breakOff(isTold: isTold)
        end()
    }

    func hangUp() {
        guard !isOver else { return }
        line.send(.close(1000))
        line.isPeerGone = true
        end()
    }

    private func end() {
        guard !isOver else { return }
        isOver = true
        peer.lost(self)
    }

    func keepAlive() {
        guard !isOver else { return }
        world.agenda.add(.keepsAlive(stay: number), at: world.now + .seconds(5))
        line.send(.text(OutgoingRequest(.ping(1)).bytes))
    }

    // MARK: Reading

    func take(_ parcel: Parcel) {
        guard !isOver else { return }
        switch parcel {
        case .text(let bytes): take(text: bytes)
        case .binary(let bytes): take(binary: bytes)
        case .ping(let number): line.send(.pong(number))
        case .close(let code):
            world.note("\(self) is closed with \(code)")
            line.isPeerGone = true
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
        world.expect(!isDismissed, "\(self) is told something after bye")
        switch message {
        case .event(let event, let seq): take(event, seq: seq)
        case .reply(let id, let fields): take(id, fields)
        case .error(let id, let error): take(id, error)
        case .unknownEvent(let type, _): world.fail("\(self) is told of an unknown \(type)")
        }
    }

    private func take(binary bytes: [UInt8]) {
        guard bytes.first == FrameKind.bundle.rawValue else { return hear(bytes) }
        switch FrameReading.frames(in: bytes) {
        case .success(let frames): for frame in frames { hear(frame) }
        case .failure(let error): world.fail("\(self) gets a bundle that is malformed: \(error)")
        }
    }
}
