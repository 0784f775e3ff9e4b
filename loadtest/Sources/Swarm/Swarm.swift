import Engine
import Sockets
import TLSFastPath
import Wire

/// All calls of a run on one thread and one loop: the thin shell around `Grid`, `Conversation`, `Reception` and the tallies.
///
/// Frames are sent from the loop's timer, which rings every millisecond, and between two received messages, so that the finer the traffic
/// the finer the pace. Nothing is allocated for a frame. The parts are in extensions: joining, speaking, hearing, ending, troubles, phases.
final class Swarm: SocketDelegate {
    let scenario: Scenario
    let gate: Gate
    let speech: SpeechPackets
    let serverPid: Int32?
    let progress: ProgressLine?
    var loop: Loop!

    // Memory of our own and not arrays: no bounds, no exclusivity checks and no copies on the frame's way.
    let slots: UnsafeMutableBufferPointer<Slot>
    let calls: UnsafeMutableBufferPointer<Call>
    /// Headroom for lws and one frame; lws masks in place, so each frame is copied into it.
    let staging: UnsafeMutableRawPointer

    var phase = RunPhase.ramping
    var tally = Tally()
    var total = CallTally()
    var timeline = Timeline()
    /// When measuring began, in nanoseconds.
    var measuredFrom: UInt64 = 0
    var sendGrid = Grid(start: 0, interval: 1, places: 1)
    var pingGrid = Grid(start: 0, interval: 1, places: 1)
    var stopGrid: Grid?

    /// Vacant calls that are to begin, last first.
    var startable: [Int]
    /// Slots of the call that began last, last first.
    var slotsToConnect: [Int] = []
    var firstRoundLeft: Int
    var nextStart: UInt64 = 0
    var lastCallNumber = 0
    var lastTrack: UInt32 = 0
    /// The slot whose `Loop.connect` is at work: it may fail before it returns.
    var connecting = -1
    /// Calls that were cut and come back, with when; in that order.
    var comingBack: [(at: UInt64, call: Int)] = []
    /// Slots that do not read, with when they go on; in that order.
    var stopped: [(until: UInt64, slot: Int)] = []
    var nextStorm = UInt64.max
    var chance: SplitMix64

    init(_ scenario: Scenario, gate: Gate, speech: SpeechPackets, serverPid: Int32?, progress: ProgressLine?) {
        self.scenario = scenario
        self.gate = gate
        self.speech = speech
        self.serverPid = serverPid
        self.progress = progress
        var chance = SplitMix64(seed: scenario.seed)
        let members = scenario.membersPerCall
        slots = .allocate(capacity: scenario.calls * members)
        calls = .allocate(capacity: scenario.calls)
        calls.initialize(repeating: Call())
        for index in slots.indices {
            let call = index / members
            let member = index % members
            let hears = scenario.listenersPerRoom == nil ? call * members + 1 - member : member == 0 ? -1 : call * members
            let isSlow = hears >= 0 && chance.chance(scenario.slowListeners?.share ?? 0)
            (slots.baseAddress! + index).initialize(
                to: Slot(call: call, member: member, publishes: member < scenario.publishersPerCall, hears: hears, isSlow: isSlow))
        }
        staging = .allocate(byteCount: Connection.headroom + ProtocolLimits.frameBytesMax + 64, alignment: 16)
        startable = (0..<scenario.calls).reversed()
        firstRoundLeft = scenario.calls
        self.chance = chance
    }

    deinit {
        slots.deinitialize().deallocate()
        calls.deinitialize().deallocate()
        staging.deallocate()
    }

    /// Runs the scenario to its end.
    ///
    /// - Throws: what makes it impossible to have sockets.
    func run() throws -> RunReport {
        loop = try Loop(settings: LoopSettings(client: gate.trust, recordLayer: TLSFastPath(.auto)), delegate: self)
        let now = clock
        sendGrid = Grid(start: now, interval: 20_000_000, places: scenario.calls * scenario.publishersPerCall)
        pingGrid = Grid(start: now, interval: UInt64(ProtocolLimits.pingIntervalMilliseconds) * 1_000_000, places: slots.count)
        if let slow = scenario.slowListeners {
            stopGrid = Grid(start: now, interval: UInt64(slow.everySeconds * 1e9), places: slots.count)
        }
        nextStart = now
        timeline.begin(at: now, server: ProcessSample(pid: serverPid), own: ProcessSample(pid: nil))
        loop.wake(at: loop.now)
        loop.run()
        progress?.clear()
        return RunReport(of: self)
    }

    /// Nanoseconds on the loop's own clock, read anew.
    var clock: UInt64 { loop.exactNow.nanoseconds }

    // MARK: What the loop tells

    func woken() {}

    func timerRang() {
        let now = clock
        sendWhatIsDue(now)
        startCalls(now)
        pingWhoIsDue(now)
        makeTrouble(now)
        sampleEverySecond(now)
        changePhase(now)
        if phase != .done { loop.wake(at: loop.now + .milliseconds(1)) }
    }

    func opened(_ connection: Connection) {}
    func ponged(_ payload: UnsafeRawBufferPointer, from connection: Connection) {}
    func writable(_ connection: Connection) {}

    /// The slot that this connection has now; nil for one that was given up.
    func slot(of connection: Connection) -> UnsafeMutablePointer<Slot>? {
        let index = connection.slot >= 0 ? connection.slot : connecting
        guard index >= 0, let base = slots.baseAddress else { return nil }
        let slot = base + index
        return slot.pointee.connection === connection || slot.pointee.connection == nil ? slot : nil
    }
}
