import Audio
import Foundation
import PatchbayClient
import Wire

/// The demonstration call: a user sends one utterance to an echo assistant, which returns it.
struct DemoCall: Sendable {
    /// The call did not complete in time.
    struct NoEcho: Error, CustomStringConvertible {
        var description: String { "the assistant did not return the audio in time" }
    }

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
        guard let track = room.snapshot.tracks.first(where: { $0.participant == assistant }) else { throw NoEcho() }
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
            guard let heard = try await group.next() ?? nil else { throw NoEcho() }
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
