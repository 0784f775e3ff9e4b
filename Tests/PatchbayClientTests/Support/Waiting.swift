import PatchbayClient
import Testing
import Wire

/// The room did not tell what was waited for.
struct NotTold: Error {}

extension RoomConnection {
    /// Reads events until `pick` finds what it looks for.
    func first<Found>(_ pick: (RoomEvent) -> Found?) async throws -> Found {
        for await event in events { if let found = pick(event) { return found } }
        throw NotTold()
    }

    /// Waits for somebody's track.
    func track(of identity: String) async throws -> TrackInfo {
        if let track = snapshot.tracks.first(where: { $0.participant.text == identity }) { return track }
        return try await first {
            if case .gateway(.trackPublished(let track), _) = $0, track.participant.text == identity { track } else { nil }
        }
    }
}

extension AsyncStream {
    /// The first elements, or all if the stream ends before.
    func prefix(_ count: Int) async -> [Element] {
        var elements: [Element] = []
        for await element in self {
            elements.append(element)
            if elements.count == count { break }
        }
        return elements
    }
}
