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
