import Engine
import Sockets
import TLSRecords
import Wire

/// Drives all calls of a run on one thread and one event loop.
///
/// Frames are sent from the loop's 1 ms timer and after each received message, so pacing gets finer with traffic. A frame causes no
/// allocation.
final class Swarm: SocketDelegate {
    let scenario: Scenario
    let target: GatewayTarget
    let speech: SpeechPackets
    let serverPid: Int32?
    let progress: ProgressLine?
    /// Nil: rooms and tokens are made here.
    let rooms: RoomFeed?
    var loop: Loop!

    // Unsafe buffers instead of arrays: no bounds checks, exclusivity checks or copies per frame.
    let slots: UnsafeMutableBufferPointer<Slot>
    let calls: UnsafeMutableBufferPointer<Call>
    /// Headroom for libwebsockets and one frame. libwebsockets masks in place, so each frame is copied here first.
    let staging: UnsafeMutableRawPointer

    var phase = RunPhase.ramping
    var tally = Tally()
    var total = CallTally()
    var timeline = Timeline()
    /// When measuring began, in nanoseconds.
    var measuredFrom: UInt64 = 0
    var sendGrid = Grid(start: 0, interval: 1, positions: 1)
    var pingGrid = Grid(start: 0, interval: 1, positions: 1)
    var pauseGrid: Grid?

    /// Unused calls that will start, last first.
    var startable: [Int]
    /// Slots of the most recently started call that have not connected, last first.
    var slotsToConnect: [Int] = []
    var initialCallsLeft: Int
    /// By call: the tokens of its members, if they were fed.
    var tokens: [[String]]
    var nextStart: UInt64 = 0
    var lastCallNumber = 0
    var lastTrack: UInt32 = 0
    /// The slot for which `Loop.connect` is running (it may fail before it returns), or -1.
    var connecting = -1
    /// Calls to reconnect, ordered by time.
    var reconnects: [(at: UInt64, call: Int)] = []
    /// Slots that do not read, ordered by the time when they resume.
    var pausedSlots: [(until: UInt64, slot: Int)] = []
    var nextStorm = UInt64.max
    var random: SplitMix64

    init(
        _ scenario: Scenario, target: GatewayTarget, speech: SpeechPackets, serverPid: Int32?, progress: ProgressLine?,
        rooms: RoomFeed? = nil
    ) {
        self.scenario = scenario
        self.target = target
        self.speech = speech
        self.serverPid = serverPid
        self.progress = progress
        self.rooms = rooms
        var random = SplitMix64(seed: scenario.seed)
        let members = scenario.membersPerCall
        slots = .allocate(capacity: scenario.calls * members)
        calls = .allocate(capacity: scenario.calls)
        calls.initialize(repeating: Call())
        for index in slots.indices {
            let call = index / members
            let member = index % members
            let subscribesTo = scenario.listenersPerRoom == nil ? call * members + 1 - member : member == 0 ? -1 : call * members
            let isSlow = subscribesTo >= 0 && random.bool(probability: scenario.slowListeners?.share ?? 0)
            (slots.baseAddress! + index).initialize(
                to: Slot(
                    call: call, member: member, publishes: member < scenario.publishersPerCall, subscribesTo: subscribesTo, isSlow: isSlow))
        }
        staging = .allocate(byteCount: Connection.headroom + ProtocolLimits.frameBytesMax + 64, alignment: 16)
        startable = (0..<scenario.calls).reversed()
        initialCallsLeft = scenario.calls
        tokens = Array(repeating: [], count: scenario.calls)
        self.random = random
    }

    deinit {
        slots.deinitialize().deallocate()
        calls.deinitialize().deallocate()
        staging.deallocate()
    }

    /// Runs the scenario.
    ///
    /// - Throws: an error if the event loop cannot be created.
    func run() throws -> RunReport {
        var settings = LoopSettings(client: target.trust)
        settings.fastPath = TLSFastPath(.auto)
        loop = try Loop(settings: settings, delegate: self)
        let now = clock
        sendGrid = Grid(start: now, interval: 20_000_000, positions: scenario.calls * scenario.publishersPerCall)
        pingGrid = Grid(start: now, interval: UInt64(ProtocolLimits.pingIntervalMilliseconds) * 1_000_000, positions: slots.count)
        if let slow = scenario.slowListeners {
            pauseGrid = Grid(start: now, interval: UInt64(slow.everySeconds * 1e9), positions: slots.count)
        }
        nextStart = now
        timeline.begin(at: now, server: ProcessSample(pid: serverPid), own: ProcessSample(pid: nil))
        loop.wake(at: loop.now)
        loop.run()
        progress?.clear()
        return RunReport(of: self)
    }

    /// The current time in nanoseconds on the loop's clock.
    var clock: UInt64 { loop.exactNow.nanoseconds }

    // MARK: SocketDelegate

    func woken() {}

    func timerRang() {
        let now = clock
        sendDueFrames(now)
        startCalls(now)
        sendDuePings(now)
        injectFaults(now)
        sampleEverySecond(now)
        changePhase(now)
        if phase != .done { loop.wake(at: loop.now + .milliseconds(1)) }
    }

    func opened(_ connection: Connection) {}
    func ponged(_ payload: UnsafeRawBufferPointer, from connection: Connection) {}
    func writable(_ connection: Connection) {}

    /// The slot of this connection; nil if the slot has given it up.
    func slot(of connection: Connection) -> UnsafeMutablePointer<Slot>? {
        let index = connection.slot >= 0 ? connection.slot : connecting
        guard index >= 0, let base = slots.baseAddress else { return nil }
        let slot = base + index
        return slot.pointee.connection === connection || slot.pointee.connection == nil ? slot : nil
    }
}
