import Foundation
import PatchbayClient
import Synchronization
import Wire

/// Plays subscribed tracks in real time without an output device, to measure the path, and reports the playout of `ahead` tracks to the
/// gateway.
final class TrackListener: Sendable {
    private static let chunksPerReport = 50

    private let tracks: (stream: AsyncStream<TrackInfo>, continuation: AsyncStream<TrackInfo>.Continuation)
    private let view: EventView
    private let played = Mutex<[PlayoutReport]>([])

    init(view: EventView) {
        self.view = view
        tracks = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1_024))
    }

    /// The final statistics of the tracks played.
    var reports: [PlayoutReport] { played.withLock { $0 } }

    /// Handles a room event.
    func handle(_ event: RoomEvent) {
        for track in event.newTracks { tracks.continuation.yield(track) }
    }

    func end() {
        tracks.continuation.finish()
    }

    /// Plays until `end()` is called and all tracks have ended.
    func run(in room: RoomConnection) async {
        var known: Set<TrackSID> = []
        let own = room.localParticipant.identity
        await withTaskGroup(of: Void.self) { group in
            for await track in tracks.stream where track.participant != own && known.insert(track.sid).inserted {
                group.addTask { await self.play(track, in: room) }
            }
            await group.waitForAll()
        }
    }

    private func play(_ track: TrackInfo, in room: RoomConnection) async {
        let clock = PlayoutClock()
        var chunks = 0
        var place: Int?
        for await _ in room.pcm(of: track.sid, channels: track.channels, clock: clock) {
            chunks += 1
            let report = PlayoutReport(track: track.sid, participant: track.participant, playout: clock.statistics)
            place = note(report, at: place)
            if chunks.isMultiple(of: Self.chunksPerReport) { view.show(report) }
        }
    }

    private func note(_ report: PlayoutReport, at place: Int?) -> Int {
        played.withLock { played in
            if let place {
                played[place] = report
                return place
            }
            played.append(report)
            return played.count - 1
        }
    }
}

/// Playout statistics of one track: printed by `--events` every second, and in the summary.
struct PlayoutReport: Encodable, Sendable {
    var track: TrackSID
    var participant: Identity
    var playout: PlayoutStatistics

    private enum CodingKeys: String, CodingKey {
        case track, participant, playedMs, concealedMs, concealedPercent, silenceMs, skippedMs, stretchedMs, underruns, framesLate, delayMs,
            targetMs, bufferedMs
    }

    func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(track.text, forKey: .track)
        try fields.encode(participant.text, forKey: .participant)
        try fields.encode(tenths(playout.playedMs), forKey: .playedMs)
        try fields.encode(tenths(playout.concealedMs), forKey: .concealedMs)
        try fields.encode((playout.concealedShare * 10_000).rounded() / 100, forKey: .concealedPercent)
        try fields.encode(tenths(playout.silenceMs), forKey: .silenceMs)
        try fields.encode(tenths(playout.skippedMs), forKey: .skippedMs)
        try fields.encode(tenths(playout.stretchedMs), forKey: .stretchedMs)
        try fields.encode(playout.underruns, forKey: .underruns)
        try fields.encode(playout.framesLate, forKey: .framesLate)
        try fields.encode(tenths(playout.delayMs), forKey: .delayMs)
        try fields.encode(tenths(playout.targetMs), forKey: .targetMs)
        try fields.encode(tenths(playout.bufferedMs), forKey: .bufferedMs)
    }

    var text: String {
        "\(participant): played \(Int(playout.playedMs / 1_000)) s with \(Int(playout.delayMs)) ms of delay; "
            + "concealed \(String(format: "%.1f", playout.concealedShare * 100)) %, skipped \(Int(playout.skippedMs)) ms"
    }

    private func tenths(_ value: Double) -> Double { (value * 10).rounded() / 10 }
}
