import Testing
import Wire

@testable import Engine

/// One `ahead` track with a virtual clock and a tick every 20 ms, as on a shard.
struct AheadWorld {
    struct Message {
        let at: Int
        let frames: [[UInt8]]
        let bytes: Int

        var sequences: [Int] { frames.map { Int($0[4]) << 8 | Int($0[5]) } }
    }

    static let alias = TrackAlias(7)
    static let frameTicks = 960

    var track: AheadTrack
    /// Milliseconds since the start.
    private(set) var now = 0
    /// Messages of each subscriber, by slot.
    private(set) var received: [UInt32: [Message]] = [:]
    private(set) var skipped: [UInt32: Int] = [:]
    /// Without those of received audio.
    private(set) var reports: [Room.PlayoutQueueReport] = []
    /// Reports of received audio: when, and its end.
    private(set) var receivedReports: [(at: Int, end: MediaTime)] = []
    private(set) var rejected: [DropReason] = []
    /// Subscribers whose sockets have no room.
    var stalled: Set<UInt32> = []
    private var sequence: UInt16
    var time: MediaTime
    private(set) var isActive = true

    /// - Parameter isPublisher: whether the track is published on this shard.
    init(subscribers: [UInt32] = [1], sequence: UInt16 = 0, time: UInt32 = 0, isPublisher: Bool = true, frameMilliseconds: Double = 20) {
        track = AheadTrack(
            isPublisher ? TrackSID(text: "TR_1") : nil, alias: Self.alias, by: ParticipantHandle(shard: 0, slot: 0, generation: 0),
            epoch: 0,
            frameMilliseconds: frameMilliseconds, at: .at(0))
        self.sequence = sequence
        self.time = MediaTime(ticks: time)
        for slot in subscribers { track.add(subscriber: slot, from: nil, at: .at(0)) }
    }

    /// Publishes consecutive frames, all now.
    @discardableResult
    mutating func publish(
        _ count: Int, ticks: Int = Self.frameTicks, epoch: UInt8 = 0, flags: FrameFlags = [], packetBytes: Int = 80
    ) -> [DropReason] {
        var reasons: [DropReason] = []
        for _ in 0..<count {
            let header = FrameHeader(
                flags: flags, alias: Self.alias, sequence: SequenceNumber(sequence), level: AudioLevelByte(voice: true, level: 30),
                epoch: epoch, timestamp: time)
            let frame = header.bytes + [UInt8](repeating: UInt8(truncatingIfNeeded: sequence), count: packetBytes)
            if let reason = frame.withUnsafeBytes({ track.append($0, header, at: .at(now)) }) { reasons.append(reason) }
            sequence &+= 1
            time = time.advanced(by: ticks)
        }
        tick(onlyIfUrgent: true)
        return reasons
    }

    /// Silence: timestamps advance without frames.
    mutating func pause(milliseconds: Int) { time = time.advanced(by: milliseconds * MediaTime.ticksPerMillisecond) }

    /// Advances the clock with a tick every 20 ms.
    mutating func run(_ milliseconds: Int, everyMilliseconds step: Int = 20) {
        let end = now + milliseconds
        while now < end {
            now = min(end, now + step)
            tick(onlyIfUrgent: false)
        }
    }

    /// Advances the clock without ticks.
    mutating func freeze(_ milliseconds: Int) { now += milliseconds }

    mutating func subscribe(_ slot: UInt32, from: MediaTime? = nil) { track.add(subscriber: slot, from: from, at: .at(now)) }
    mutating func setPaused(_ pauses: Bool) { track.setPaused(pauses, at: .at(now)) }

    @discardableResult
    mutating func clear(epoch: UInt8) -> Int {
        let forgotten = track.clear(epoch: epoch, at: .at(now))
        takeReports()
        return forgotten
    }

    private mutating func tick(onlyIfUrgent: Bool) {
        track.releaseReference(at: .at(now), onlyIfUrgent: onlyIfUrgent)
        for index in 0..<track.subscriberCount {
            let slot = track.slot(ofSubscriber: index)
            skipped[slot, default: 0] += track.takeSkippedFrames(ofSubscriber: index)
            guard !stalled.contains(slot), track.isDue(forSubscriber: index, at: .at(now), onlyIfUrgent: onlyIfUrgent) else { continue }
            while let message = release(to: index) { received[slot, default: []].append(message) }
        }
        if !onlyIfUrgent { isActive = track.settle(at: .at(now)) != nil }
        takeReports()
    }

    private mutating func takeReports() {
        guard track.hasReports else { return }
        for report in track.takeReports() {
            if case .received(_, let end) = report { receivedReports.append((now, end)) } else { reports.append(report) }
        }
    }

    private mutating func release(to index: Int) -> Message? {
        var buffer = [UInt8](repeating: 0, count: ProtocolLimits.messageBytesMax)
        let now = now
        return buffer.withUnsafeMutableBytes { buffer -> Message? in
            guard let output = track.release(toSubscriber: index, at: .at(now), into: buffer.baseAddress!) else { return nil }
            let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<output.bytes])
            var frames: [[UInt8]] = []
            if bytes[0] == FrameKind.bundle.rawValue {
                try! Bundle.forEachFrame(in: bytes) { frames.append(Array($0)) }
            } else {
                frames = [Array(bytes)]
            }
            #expect(frames.count == output.frames)
            return Message(at: now, frames: frames, bytes: output.bytes)
        }
    }

    // MARK: Results

    func sequences(_ slot: UInt32 = 1) -> [Int] { (received[slot] ?? []).flatMap(\.sequences) }
    func messages(_ slot: UInt32 = 1) -> [Message] { received[slot] ?? [] }
    func afterDrop(_ slot: UInt32 = 1) -> [Int] {
        messages(slot).flatMap(\.frames).filter { $0[1] & 0x08 != 0 }.map { Int($0[4]) << 8 | Int($0[5]) }
    }

    /// Lead of each frame in milliseconds, if the track's time 0 plays at `start`.
    func leads(_ slot: UInt32 = 1, start: Int = 0) -> [Int] {
        messages(slot).flatMap { message in
            message.frames.map { frame in
                frame.withUnsafeBytes { start + Int(FrameHeader(unchecked: $0.baseAddress!).timestamp.ticks) / 48 - message.at }
            }
        }
    }
}
