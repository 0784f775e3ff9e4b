// session URL EMAIL PASSWORD WAV-FILE [CA-FILE]
//
// An example of an app with accounts: registers, answers the consent screen, calls the assistant, talks, hangs up and shows the summary.
// A file takes the place of the microphone.

import Audio
import Foundation
import PatchbayClient
import Synchronization
import Wire

let arguments = CommandLine.arguments
guard arguments.count > 4, let file = FileManager.default.contents(atPath: arguments[4]) else {
    print("usage: session URL EMAIL PASSWORD WAV-FILE [CA-FILE]")
    exit(64)
}
let trust: TLSTrust = arguments.count > 5 ? .authority(path: arguments[5]) : .system
let audio = FileAudio(try WAVFile.read(Array(file), mono: true).resampled(to: PCMChunk.sampleRate).samples)

// Register, or log in if the address has an account.
let account = try Account(url: arguments[1], trust: trust)
do {
    try await account.register(email: arguments[2], password: arguments[3])
} catch {
    guard error.code == .emailTaken else { throw error }
    try await account.login(email: arguments[2], password: arguments[3])
}

// The answer to the consent screen: "Allow logging & summaries".
let settings = try await account.settings.answerConsent(true)
print("logging:", settings.loggingEnabled, "for \(settings.retentionDays) days")

// Start a call. An app would show each state.
let call = AssistantCall(backend: account.sessions, audio: audio, options: RoomOptions(trust: trust))
call.start(AssistantCallRequest(.phone, assistant: "default", isLoggingEnabled: settings.loggingEnabled))
for await state in call.states {
    print("call:", state.phase, state.showsRecordingNotice ? "(may be recorded)" : "")
    if state.phase == .active { break }
    if case .ended(let ending) = state.phase { fatalError("the call ended: \(ending)") }
}
guard let session = call.state.sessionID else { fatalError("the call has no session") }

// Talk until the file ends, and listen until the assistant was heard, if there is one. The gateway stores the room's transcript itself; these
// turns are from elsewhere, and are sent in the background.
await audio.spoken()
try await audio.heardAssistant(within: .seconds(15))
call.log(Sessions.NewTurn(speaker: .user, text: "Please book a table for two at the harbour tomorrow at seven.", timestamp: Date()))
call.log(Sessions.NewTurn(speaker: .assistant, text: "I have booked a table for two at the harbour for tomorrow.", timestamp: Date()))

// Hang up, and wait until the gateway has been told.
call.end()
await call.settled()
print("call:", call.state.phase, "after hearing \(audio.heardMilliseconds) ms of the assistant")

// The summary follows shortly.
var detail = try await account.sessions.detail(session)
while detail.summary == nil, detail.session.summaryStatus == .pending {
    try await Task.sleep(for: .milliseconds(200))
    detail = try await account.sessions.detail(session)
}
for turn in detail.turns { print("\(turn.speaker):", turn.text) }
print("summary:", detail.summary?.title ?? "none")
print("sessions:", try await account.sessions.list().sessions.map(\.title))
try await account.logout()

/// Audio devices for this example: a recording as the microphone, and a speaker that counts samples.
final class FileAudio: AssistantCallAudio {
    private let samples: [Int16]
    private let state = Mutex((position: 0, heard: 0))
    private let end = AsyncStream.makeStream(of: Void.self)

    init(_ samples: [Int16]) {
        self.samples = samples
    }

    var heardMilliseconds: Int { state.withLock { $0.heard } * 20 }

    /// Waits until the whole recording has been sent.
    func spoken() async {
        for await _ in end.stream { break }
    }

    /// Waits until there was sound, at most for `limit`.
    func heardAssistant(within limit: Duration) async throws {
        let deadline = ContinuousClock.now + limit
        while heardMilliseconds == 0, ContinuousClock.now < deadline { try await Task.sleep(for: .milliseconds(50)) }
    }

    /// Returns the recording; each piece is sent before the next one is requested.
    func microphone() -> AsyncStream<[Int16]> {
        AsyncStream { [self] in
            let piece = state.withLock { state in
                defer { state.position += PCMChunk.samplesPerChannel }
                return Array(samples.dropFirst(state.position).prefix(PCMChunk.samplesPerChannel))
            }
            if piece.isEmpty { end.continuation.finish() }
            return piece.isEmpty ? nil : piece
        }
    }

    func play(_ chunk: PCMChunk, of track: TrackSID) {
        if chunk.content == .sound { state.withLock { $0.heard += 1 } }
    }

    func stop() {}
}
