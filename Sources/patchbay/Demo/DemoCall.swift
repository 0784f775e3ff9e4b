import Audio
import Foundation
import OggOpus
import PatchbayClient
import Synchronization
import Wire

/// The demonstration call: a user sends one utterance to an echo assistant, which returns it.
struct DemoCall: Sendable {
    private static let noEcho = CommandFailure("the assistant did not return the audio in time")

    let gateway: DemoGateway
    let sound: PCMBuffer
    /// The file that records the audio the user receives.
    let path: String

    func run() async throws -> DemoReport {
        let stopwatch = FrameStopwatch()
        let assistant = try await gateway.join("echo", kind: .agent)
        let echo = try await EchoAssistant(in: assistant) { moment in
            switch moment {
            case .heard(let frame): stopwatch.arrived(at: frame.arrivedAt, on: .toAssistant)
            case .said(_, let moment): stopwatch.left(at: moment, on: .toUser)
            }
        }
        async let echoing: Void = echo.run()
        async let assisting: Void = Self.attend(assistant, echo)

        let started = ContinuousClock.now
        let user = try await gateway.join("alice")
        let joinTime = ContinuousClock.now - started
        async let watching: Void = Self.watch(user)

        let frames = try PCMSpeech(sound).frames()
        let voice = try await user.publish(name: "recording")
        async let heard = listen(to: assistant.localParticipant.identity, in: user, stopwatch)
        var next = frames[...]
        try await voice.speak(frames: { next.popFirst() }, sent: { stopwatch.left(at: $1, on: .toAssistant) })
        let echoed = try await heard

        await user.leave()
        await assistant.leave()
        _ = try await (echoing, assisting, watching)
        return DemoReport(
            joinTime: joinTime, sent: frames, heard: echoed, stopwatch: stopwatch, unsent: user.statistics.framesUnsent,
            relayed: await relayed(expecting: frames.count + echoed.count), path: path)
    }

    private static func attend(_ room: RoomConnection, _ echo: EchoAssistant) async {
        for await event in room.events { echo.handle(event) }
        echo.end()
    }

    private static func watch(_ room: RoomConnection) async {
        let view = EventView(form: .readable)
        for await event in room.events { view.show(event) }
    }

    /// Receives the assistant's audio until it ends, and records it.
    private func listen(to assistant: Identity, in room: RoomConnection, _ stopwatch: FrameStopwatch) async throws -> [ReceivedFrame] {
        guard let track = room.snapshot.tracks.first(where: { $0.participant == assistant }) else { throw Self.noEcho }
        let file = try OggRecording(path: path, channels: track.channels)
        let frames = room.frames(of: track.sid)
        return try await withThrowingTaskGroup(of: [ReceivedFrame]?.self) { group in
            group.addTask {
                var heard: [ReceivedFrame] = []
                for await frame in frames {
                    stopwatch.arrived(at: frame.arrivedAt, on: .toUser)
                    heard.append(frame)
                    if frame.header.flags.contains(.talkspurtEnd) { break }
                }
                return heard
            }
            group.addTask {
                try await Task.sleep(for: sound.duration * 2 + .seconds(10))
                return nil
            }
            defer { group.cancelAll() }
            guard let heard = try await group.next() ?? nil else { throw Self.noEcho }
            for frame in heard { try file.append(frame) }
            try file.finish()
            return heard
        }
    }

    /// The gateway's frame count, which it updates once a second.
    private func relayed(expecting count: Int) async -> UInt64 {
        for _ in 0..<30 where gateway.framesRelayed < UInt64(count) { try? await Task.sleep(for: .milliseconds(50)) }
        return gateway.framesRelayed
    }
}

/// Measures the latency added by the gateway: from sending a frame to reading it from the subscriber's socket, on one clock.
///
/// Assumes that the n-th frame sent is the n-th received, so the result is meaningless if frames are lost.
final class FrameStopwatch: Sendable {
    enum Way: Int, CaseIterable {
        case toAssistant, toUser
    }

    private struct Moments {
        var left: [Instant] = []
        var arrived: [Instant] = []
    }

    private let moments = Mutex([Moments](repeating: Moments(), count: Way.allCases.count))

    func left(at moment: Instant, on way: Way) {
        moments.withLock { $0[way.rawValue].left.append(moment) }
    }

    func arrived(at moment: Instant, on way: Way) {
        moments.withLock { $0[way.rawValue].arrived.append(moment) }
    }

    func framesArrived(on way: Way) -> Int {
        moments.withLock { $0[way.rawValue].arrived.count }
    }

    /// The delays in one direction, shortest first.
    func delays(on way: Way) -> [Duration] {
        moments.withLock { moments in zip(moments[way.rawValue].left, moments[way.rawValue].arrived).map { $1 - $0 } }.sorted()
    }
}

extension [Duration] {
    /// The nearest-rank percentile of sorted durations, in milliseconds; 0 if there are none.
    func percentile(_ percent: Int) -> Double {
        guard !isEmpty else { return 0 }
        let rank = Swift.max(1, (count * percent + 99) / 100)
        return Double(self[rank - 1].inNanoseconds) / 1e6
    }
}
