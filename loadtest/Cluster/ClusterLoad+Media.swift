import Sockets
import Wire

/// Frames: each caller sends one every 20 ms, and notes when it hears the other.
extension ClusterLoad {
    /// Frames that are later than this, in nanoseconds, are left out.
    private static let lateMax: UInt64 = 200_000_000
    /// Limits frames sent in one turn, so that a late program still receives.
    private static let framesPerTurnMax = 128

    func sendDueFrames(_ now: UInt64) {
        if now > frames.next + Self.lateMax { timeline.counts.framesSkipped += frames.skip(to: now) }
        connectDue(now)
        var left = Self.framesPerTurnMax
        while left > 0, let position = frames.take(at: now) {
            send(callers[position], now)
            left -= 1
        }
    }

    private func send(_ caller: Caller, _ now: UInt64) {
        guard caller.isJoined, let alias = caller.track, let connection = caller.connection, !connection.isCongested else { return }
        let start = frame + Connection.headroom
        FrameContent(sentAt: clock, number: caller.sent + 1).write(
            to: start, alias: alias, startsTalkspurt: caller.startsTalkspurt,
            timestamp: UInt32(truncatingIfNeeded: now / 1_000 * 48 / 1_000))
        guard connection.write(binary: start, count: FrameContent.bytes) else { return }
        caller.sent += 1
        caller.startsTalkspurt = false
        timeline.counts.framesSent += 1
    }

    func received(binary message: UnsafeRawBufferPointer, from connection: Connection) {
        guard let caller = caller(of: connection) else { return }
        let now = clock
        caller.alive(at: now)
        if message.first == FrameKind.bundle.rawValue {
            do {
                try Bundle.forEachFrame(in: message) { received($0, caller, now) }
            } catch {
                timeline.note("a malformed bundle: \(error)")
            }
        } else {
            received(message, caller, now)
        }
    }

    private func received(_ message: UnsafeRawBufferPointer, _ caller: Caller, _ now: UInt64) {
        guard let content = FrameContent(message) else { return timeline.note("a malformed frame") }
        // After a resume, a few frames may come again.
        guard caller.received < content.number else { return }
        let missing = caller.received == 0 ? 0 : Int(content.number - caller.received) - 1
        timeline.received(
            by: caller.index, before: caller.lastFrameAt, now: now, missing: missing,
            latency: now > content.sentAt ? now - content.sentAt : 0)
        caller.received = content.number
        caller.lastFrameAt = now
    }
}

/// A frame's header of 12 bytes, an Opus packet's first byte, and in the packet the time of sending and the frame's number.
struct FrameContent {
    static let interval: UInt64 = 20_000_000
    /// The size of a frame of speech at 28 kbit/s.
    static let bytes = 82
    private static let timeOffset = 13
    private static let numberOffset = 21
    /// A frame of 20 ms of one channel.
    private static let opusConfiguration: UInt8 = 0xF8

    let sentAt: UInt64
    let number: UInt32

    init(sentAt: UInt64, number: UInt32) {
        (self.sentAt, self.number) = (sentAt, number)
    }

    init?(_ frame: UnsafeRawBufferPointer) {
        guard frame.count == Self.bytes, frame[0] == FrameKind.audio.rawValue, let base = frame.baseAddress else { return nil }
        sentAt = base.loadUnaligned(fromByteOffset: Self.timeOffset, as: UInt64.self)
        number = base.loadUnaligned(fromByteOffset: Self.numberOffset, as: UInt32.self)
    }

    func write(to frame: UnsafeMutableRawPointer, alias: TrackAlias, startsTalkspurt: Bool, timestamp: UInt32) {
        let flags: FrameFlags = startsTalkspurt ? .talkspurtStart : []
        frame.initializeMemory(as: UInt8.self, repeating: 0x55, count: Self.bytes)
        frame.storeBytes(of: FrameKind.audio.rawValue, toByteOffset: 0, as: UInt8.self)
        frame.storeBytes(of: flags.rawValue, toByteOffset: 1, as: UInt8.self)
        frame.storeBytes(of: alias.value.bigEndian, toByteOffset: 2, as: UInt16.self)
        frame.storeBytes(of: UInt16(truncatingIfNeeded: number).bigEndian, toByteOffset: 4, as: UInt16.self)
        frame.storeBytes(of: AudioLevelByte(voice: true, level: 25).rawValue, toByteOffset: 6, as: UInt8.self)
        frame.storeBytes(of: 0, toByteOffset: 7, as: UInt8.self)
        frame.storeBytes(of: timestamp.bigEndian, toByteOffset: 8, as: UInt32.self)
        frame.storeBytes(of: Self.opusConfiguration, toByteOffset: 12, as: UInt8.self)
        frame.storeBytes(of: sentAt, toByteOffset: Self.timeOffset, as: UInt64.self)
        frame.storeBytes(of: number, toByteOffset: Self.numberOffset, as: UInt32.self)
    }
}
