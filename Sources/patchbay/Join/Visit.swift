import Foundation
import PatchbayClient
import UnixSignals
import Wire

/// One stay in a room: what `join` does between connecting and leaving.
struct Visit: Sendable {
    /// Why the stay ends.
    enum Stop: Sendable {
        case signal, duration, played
        case disconnected(Disconnection)
        case failed(any Error)
    }

    let room: RoomConnection
    var playback: Playback?
    var recorder: TrackRecorder?
    var listener: TrackListener?
    var echoes = false
    var leavesAfterPlay = false
    var duration: Duration?
    let view: EventView

    /// - Throws: errors of playing, recording or echoing, after leaving the room.
    func run() async throws -> VisitSummary {
        let started = ContinuousClock.now
        let echo = echoes ? try await EchoAssistant(in: room) : nil
        let (stops, stop) = AsyncStream.makeStream(of: Stop.self)

        async let following: Void = follow(echo: echo, stop: stop)
        async let recording: Void = Self.report(to: stop) { try await recorder?.run(in: room) }
        async let listening: Void = { await listener?.run(in: room) }()
        async let echoing: Void = Self.report(to: stop) { try await echo?.run() }
        let reason = await firstStop(of: stops)
        await room.leave()
        _ = await (following, recording, listening, echoing)

        if case .failed(let error) = reason { throw error }
        return VisitSummary(
            of: room, lasted: ContinuousClock.now - started, recordings: recorder?.files ?? [], played: listener?.reports ?? [],
            disconnection: { if case .disconnected(let why) = reason { why } else { nil } }())
    }

    /// Distributes room events until the stay ends.
    private func follow(echo: EchoAssistant?, stop: AsyncStream<Stop>.Continuation) async {
        for await event in room.events {
            view.show(event)
            echo?.handle(event)
            recorder?.handle(event)
            listener?.handle(event)
            if case .disconnected(let reason) = event { stop.yield(.disconnected(reason)) }
        }
        echo?.end()
        recorder?.end()
        listener?.end()
    }

    private func firstStop(of stops: AsyncStream<Stop>) async -> Stop {
        await withTaskGroup(of: Stop?.self) { group in
            group.addTask { await stops.first { _ in true } }
            group.addTask {
                for await _ in await UnixSignalsSequence(trapping: .sigint, .sigterm) { return .signal }
                return nil
            }
            if let duration {
                group.addTask { (try? await Task.sleep(for: duration)).map { Stop.duration } }
            }
            if let playback {
                group.addTask {
                    do {
                        try await playback.run(in: room)
                        return leavesAfterPlay ? .played : nil
                    } catch {
                        return .failed(error)
                    }
                }
            }
            defer { group.cancelAll() }
            for await stop in group { if let stop { return stop } }
            return .signal
        }
    }

    private static func report(to stop: AsyncStream<Stop>.Continuation, _ work: @Sendable () async throws -> Void) async {
        do { try await work() } catch { stop.yield(.failed(error)) }
    }
}

/// The results of one stay in a room.
struct VisitSummary: Encodable {
    var room: String
    var identity: String
    var seconds: Double
    var framesSent: UInt64
    var framesUnsent: UInt64
    var framesReceived: UInt64
    var framesLost: UInt64
    /// Published, but cleared before they arrived.
    var framesCleared: UInt64
    var roundTripMs: Double?
    var reconnects: UInt64
    var recordings: [String]
    /// Tracks played by `--listen`.
    var played: [PlayoutReport]
    var ended: String

    /// The stay was ended by the gateway or a failure.
    let endedBadly: Bool

    private enum CodingKeys: String, CodingKey {
        case room, identity, seconds, framesSent, framesUnsent, framesReceived, framesLost, framesCleared, roundTripMs, reconnects
        case recordings, played, ended
    }

    /// - Parameter disconnection: why the stay ended; nil if this client left.
    init(of connection: RoomConnection, lasted: Duration, recordings: [String], played: [PlayoutReport], disconnection: Disconnection?) {
        let statistics = connection.statistics
        let snapshot = connection.snapshot
        room = snapshot.room.name
        identity = snapshot.local.identity.text
        seconds = Double(lasted.inMilliseconds) / 1_000
        framesSent = statistics.framesSent
        framesUnsent = statistics.framesUnsent
        framesReceived = statistics.framesReceived
        framesLost = statistics.framesLost
        framesCleared = statistics.framesCleared
        roundTripMs = statistics.roundTrip.map { (Double($0.inNanoseconds) / 10_000).rounded() / 100 }
        reconnects = statistics.reconnects
        self.recordings = recordings
        self.played = played
        ended = (disconnection ?? .left).description
        endedBadly = disconnection != nil
    }

    var text: String {
        var lines = [
            "\(identity) was in \(room) for \(String(format: "%.1f", seconds)) s; \(ended)",
            "  frames sent \(framesSent), received \(framesReceived), lost \(framesLost)"
                + (framesCleared > 0 ? ", cleared \(framesCleared)" : "") + (framesUnsent > 0 ? ", not sent \(framesUnsent)" : ""),
        ]
        if let roundTripMs { lines.append("  round trip \(roundTripMs) ms") }
        if reconnects > 0 { lines.append("  reconnected \(reconnects) times") }
        if !recordings.isEmpty { lines.append("  recorded \(recordings.joined(separator: ", "))") }
        lines += played.map { "  \($0.text)" }
        return lines.joined(separator: "\n")
    }

    var json: String { Console.line(of: Line(data: self)) }

    private struct Line: Encodable {
        var type = "summary"
        var data: VisitSummary
    }
}
