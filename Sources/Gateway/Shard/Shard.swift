internal import Backend
internal import Engine
internal import HTTPServer
internal import Identity
internal import Logging
internal import Sockets
internal import Wire

/// Rooms and their sockets on one thread: the thin shell around `Engine`.
///
/// What comes from a socket becomes an input of a room or, for media, goes straight through the patch panel; what a room
/// wants done is done in order. Nobody outside has a reference; `mailbox` is the one door.
///
/// The rest is in extensions, by what happens: `+Admission`, `+Media`, `+Ahead`, `+AheadPatches`, `+Control`, `+Rooms`, `+Peers`, `+Resuming`,
/// `+Clock`, `+Drain`, `+HTTP`, `+Administration`, `+Facts`, `+Recording`, `+Devices`.
final class Shard: SocketDelegate {
    let index: Int
    let common: GatewayContext
    let mailbox: Mailbox<ShardMessage>
    @exclusivity(unchecked) private(set) var loop: Loop!
    /// The loop's.
    @exclusivity(unchecked) private(set) var clock = LoopClock(standingAt: Instant(nanoseconds: 0))
    var log: Logger
    /// Not before this is the next failure to accept logged.
    var nextAcceptWarning = Instant(nanoseconds: 0)

    // Slots: who is connected here.
    @exclusivity(unchecked) var slots: [Member?] = []
    var generations: [UInt16] = []
    var freeSlots: [Int] = []

    // Rooms whose home this is.
    var rooms: [HostedRoom?] = []
    /// When each wants to be looked at; apart from them, for every tick looks at all.
    var roomDeadlines: [Instant?] = []
    var freeRooms: [Int] = []
    var roomByName: [String: Int] = [:]
    /// Participants of these rooms whose sockets are on other shards.
    var guests: [ParticipantHandle: Int] = [:]

    // Media.
    @exclusivity(unchecked) var panel = PatchPanel()
    /// Tracks from other shards.
    @exclusivity(unchecked) var remoteTracks = RemoteTracks()
    /// Tracks of mode `ahead`, published here or heard here.
    @exclusivity(unchecked) var aheads = AheadTracks()
    /// What each of them looked at when it was let out last, by its place.
    @exclusivity(unchecked) var aheadPrefetchHints: [PrefetchHints] = []
    /// What became of those that are published here, and is not told yet.
    var playoutQueueReports: [(publisher: ParticipantHandle, track: TrackSID, fact: Room.PlayoutQueueReport)] = []
    var isTellingFacts = false
    /// What came through the trunks, by the shard that it came from.
    var arrivals: [TrunkBatch]
    /// Frames were taken from a trunk after the mail: what comes before them may not have been read.
    var hasLateArrivals = false
    @exclusivity(unchecked) var store = FrameStore(headroom: Connection.headroom)
    let staging = UnsafeMutableRawPointer.allocate(byteCount: 2_048, alignment: 64)
    let messageStaging = UnsafeMutableRawPointer.allocate(
        byteCount: Connection.headroom + ProtocolLimits.messageBytesMax, alignment: 64)
    /// How many deliveryProbe may be asked for, over all listeners: a quarter of a percent of a core.
    @exclusivity(unchecked) var receiptBucket = TokenBucket(perSecond: 250, burst: 50)
    /// Slots for whom something waits.
    @exclusivity(unchecked) var waiting: [Int] = []

    @exclusivity(unchecked) var counters = Counters()
    var effects: [Room.Effect] = []
    /// Rooms whose effects are being done: more than one where doing one tells another something.
    var performing = 0
    var inbox: [ShardMessage] = []
    var ticks = 0
    var nextTick: Instant?
    /// How late the timer rang of late: at once when it is late, forgotten by halves.
    @exclusivity(unchecked) var recentLag: Duration = .zero
    var drain: Drain?
    /// Shards that have nobody any more, in a drain.
    var emptied: Set<Int> = []
    var keys: KeyRing
    /// Users' own channels, by the shard's number for each.
    var devices: [Int: Device] = [:]
    var lastDevice = 0
    var deviceNames = IdentifierGenerator(seed: .random(in: 0 ... .max))
    /// HTTP requests that are being answered.
    var openRequests = OpenRequests()
    /// Tracks published here that are written down; a patch's `tap` is a place in it.
    @exclusivity(unchecked) var taps: [RecordedTrack?] = []

    init(index: Int, common: GatewayContext, mailbox: Mailbox<ShardMessage>) {
        self.index = index
        self.common = common
        self.mailbox = mailbox
        self.keys = common.keys
        arrivals = Array(repeating: TrunkBatch(), count: common.mailboxes.count)
        log = Logger(label: "patchbay.shard")
        log[metadataKey: "shard"] = "\(index)"
    }

    deinit {
        staging.deallocate()
        messageStaging.deallocate()
    }

    /// Serves on the calling thread until it is told to stop.
    ///
    /// - Parameter ready: called once with nil when the shard serves, or with why it cannot.
    func run(listeners: [Listener], ready: ((any Error)?) -> Void) {
        defer { mailbox.close() }
        do {
            let settings = LoopSettings(
                server: common.settings.tls, quota: common.quota,
                handshakeSecondsMax: common.settings.handshakeSecondsMax, recordLayer: common.settings.recordLayer)
            loop = try Loop(settings: settings, delegate: self)
        } catch {
            ready(error)
            return
        }
        clock = loop.clock
        for listener in listeners { loop.listen(on: listener) }
        scheduleTick()
        ready(nil)
        loop.run(wokenBy: mailbox)
        clock = LoopClock(standingAt: loop.exactNow)
        tellLastFacts()
    }

    func reload(_ keys: KeyRing?, _ tls: TLSFiles) {
        if let keys { self.keys = keys }
        do {
            try loop.reloadTLS(tls)
            log.info("certificate and keys read again")
        } catch {
            log.error("certificate not changed", metadata: ["reason": "\(error)"])
        }
    }

    func publishMetrics() {
        counters.rooms = roomByName.count
        counters.devices = devices.count
        counters.tracks = panel.count
        counters.framesHeld = store.heldCount
        counters.aheadTracks = aheads.count
        counters.aheadBytesHeld = aheads.storedBytes
        counters.connectionsTurnedAway = loop.counters.turnedAway
        counters.handshakesAbandoned = loop.counters.handshakesAbandoned
        counters.acceptFailures = loop.counters.acceptFailures
        common.metrics.publish(counters, ofShard: index)
    }

    // MARK: Slots

    func member(at handle: ParticipantHandle) -> Member? {
        let slot = Int(handle.slot)
        guard handle.shard == index, slot < slots.count, generations[slot] == handle.generation else { return nil }
        return slots[slot]
    }

    func takeSlot() -> ParticipantHandle {
        let slot: Int
        if let free = freeSlots.popLast() {
            slot = free
        } else {
            slot = slots.count
            slots.append(nil)
            generations.append(0)
        }
        return ParticipantHandle(shard: UInt16(index), slot: UInt32(slot), generation: generations[slot])
    }

    func freeSlot(_ handle: ParticipantHandle) {
        let slot = Int(handle.slot)
        slots[slot] = nil
        generations[slot] &+= 1
        freeSlots.append(slot)
    }
}

/// What all shards share: values that do not change, and the few doors that lead out.
struct GatewayContext: Sendable {
    var settings: GatewaySettings
    var keys: KeyRing
    var metrics: MetricsBoard
    var state: GatewayState
    /// The doors of all shards, by index.
    var mailboxes: [Mailbox<ShardMessage>]
    let directory = RoomDirectory()
    let failures = AuthFailureLimiter()
    let quota: ConnectionQuota
    let keysInUse: KeysInUse
    let origins: AllowedOrigins
    /// Set before the shards are made.
    var router: Router
    /// The port of each shard's own; empty where there is one shard only.
    var shardPorts: [Int]
    /// Where what happens in rooms is told, if anywhere.
    let facts: AuditEventQueue?
    /// Who writes tracks down, if anybody does.
    let recorder: Recorder?
    /// The way to who keeps the calls, if anybody does.
    let calls: CallInbox?
    private let trunks: [Trunk]

    init(settings: GatewaySettings, keys: KeyRing, shardPorts: [Int], facts: AuditEventQueue?, recorder: Recorder?, calls: CallInbox?) {
        self.settings = settings
        self.keys = keys
        self.shardPorts = shardPorts
        self.facts = facts
        self.recorder = recorder
        self.calls = calls
        quota = ConnectionQuota(limit: settings.connectionsMax)
        keysInUse = KeysInUse(keys)
        origins = AllowedOrigins(settings.allowedOrigins)
        router = Router(routes: [], origins: origins, failures: failures)
        metrics = MetricsBoard(shardCount: settings.shardCount)
        state = GatewayState()
        mailboxes = (0..<settings.shardCount).map { _ in Mailbox() }
        trunks = (0..<settings.shardCount * settings.shardCount).map { _ in Trunk() }
    }

    /// Frames go from the first shard to the second.
    func trunk(from source: Int, to destination: Int) -> Trunk {
        trunks[source * mailboxes.count + destination]
    }
}
