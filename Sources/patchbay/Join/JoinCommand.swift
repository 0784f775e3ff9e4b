import ArgumentParser
import Foundation
import Identity
import PatchbayClient
import Wire

struct JoinCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "join",
        abstract: "Join a room: speak, listen, record, echo.",
        discussion: """
            Stays until the room ends, --duration has passed, --exit-after-play applies, or SIGINT or SIGTERM arrives.
            With --room and --identity, a token is signed with the API key; otherwise pass one with --token.

            Lost connections are restored automatically: at once, then after 0.3, 1.2, 2.7, 4.8 and then every 7 s, up to ten times.

            EXAMPLES
              patchbay join --dev --room lobby --identity echo --echo
              patchbay join --dev --room lobby --identity alice \\
                  --play hello.wav --record heard.ogg --duration 15
              patchbay join --dev --room lobby --identity monitor --events --listen
              patchbay join --dev --room lobby --identity assistant \\
                  --play answer.wav --ahead --exit-after-play
              arecord -q -t raw -f S16_LE -r 48000 -c 1 | \\
                  patchbay join --dev --room lobby --identity bob --play -
              patchbay join --url wss://voice.example --token "$TOKEN" --record call.ogg
              patchbay join --profile staging --room lobby --identity alice --listen
            """)

    @OptionGroup var gateway: GatewayOptions
    @Option(help: "The access token (environment: PATCHBAY_TOKEN).")
    var token: String?
    @Option(help: "The room, for a token signed with the API key.")
    var room: String?
    @Option(help: "The participant's identity, for a token signed with the API key.")
    var identity: String?
    @Option(help: "The display name, for a token signed with the API key.")
    var name: String?
    @OptionGroup var key: APIKeyOptions
    @Option(
        help:
            "A WAV or Ogg Opus file to send in real time; Ogg packets are sent unchanged. `-` reads either from standard input, or raw 48 kHz mono s16le."
    )
    var play: String?
    @Option(help: "Record other participants to this Ogg Opus file. Further tracks are written to FILE-2.ogg and so on.")
    var record: String?
    @Flag(help: "Send --play faster than real time, on a track of mode `ahead`, as assistants do.")
    var ahead = false
    @Flag(help: "Play other participants without an output device, and report delay and concealment; with --events every second.")
    var listen = false
    @Flag(help: "Return each utterance of the first user when it ends, packet for packet.")
    var echo = false
    @Flag(help: "Print each event as one line of JSON.")
    var events = false
    @Flag(help: "Print only the summary, as JSON (and events, with --events).")
    var json = false
    @Option(parsing: .unconditional, help: "Leave after this many seconds.")
    var duration: Double?
    @Flag(name: .customLong("exit-after-play"), help: "Leave when --play has been sent.")
    var exitAfterPlay = false

    func run() async throws {
        if let duration, !(0...31_536_000 ~= duration) { throw UsageError("--duration \(duration): pass 0 to 31536000 seconds") }
        if exitAfterPlay, play == nil { throw UsageError("--exit-after-play requires --play") }
        if ahead, play == nil { throw UsageError("--ahead requires --play") }
        if echo, play != nil { throw UsageError("--echo and --play cannot be combined; pass one of them") }
        let access = try gateway.access(with: key)
        let token = try accessToken(access)
        var playback: Playback?
        if let play { playback = try await Playback(path: play, isAhead: ahead) }
        let recorder = try record.map(TrackRecorder.init(path:))
        let room = try await RoomConnection.connect(
            url: access.url, token: token, options: RoomOptions(trust: try access.trust()))
        let view = EventView(form: events ? .json : json ? .none : .readable)
        let visit = Visit(
            room: room, playback: playback, recorder: recorder, listener: listen ? TrackListener(view: view) : nil, echoes: echo,
            leavesAfterPlay: exitAfterPlay, duration: duration.map { .seconds($0) }, view: view)
        if duration == nil, !exitAfterPlay {
            Console.complain(
                "staying until the room ends or SIGINT (Ctrl-C) arrives; --duration SECONDS or --exit-after-play leave earlier")
        }
        let summary = try await visit.run()
        Console.say(json || events ? summary.json : summary.text)
        if summary.endedBadly { throw ExitCode.failure }
    }

    private func accessToken(_ access: GatewayAccess) throws -> String {
        if let token = token ?? (room == nil ? ProcessInfo.processInfo.environment["PATCHBAY_TOKEN"] : nil) {
            guard room == nil, identity == nil else {
                throw UsageError("--token contains room and identity; omit --room and --identity")
            }
            return token
        }
        guard let room, let identity else { throw UsageError("pass --token, or --room and --identity") }
        return try access.signer().token(
            identity, seconds: 21_600, name: name ?? "", kind: echo ? .agent : .standard, video: .joining(room))
    }
}
