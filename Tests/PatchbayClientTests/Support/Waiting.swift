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

    /// What happens, in a word each, until one of them is `last`.
    func words(until last: String) async throws -> [String] {
        var words: [String] = []
        _ = try await first { event -> Bool? in
            switch event {
            case .gateway(let event, _): words.append(String(String(describing: event).prefix { $0 != "(" }))
            case .reconnecting(let attempt, _, _): words.append("reconnecting \(attempt)")
            case .reconnected: words.append("reconnected")
            case .trackRepublished: words.append("republished")
            default: words.append("other")
            }
            return words.last == last ? true : nil
        }
        return words
    }

    /// Returns when the line was lost and found so many times.
    func isBack(_ times: UInt64) async throws {
        while statistics.reconnects < times {
            if disconnection != nil { throw NotTold() }
            try await Task.sleep(for: .milliseconds(2))
        }
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

extension CallChannel {
    /// Reads events until `pick` finds what it looks for.
    func first<Found>(_ pick: (CallChannelEvent) -> Found?) async throws -> Found {
        for await event in events { if let found = pick(event) { return found } }
        throw NotTold()
    }

    /// The next call that rings here.
    func ring() async throws -> Call {
        try await first { if case .incoming(let call) = $0 { call } else { nil } }
    }

    /// How the next call to end here does.
    func ending() async throws -> CallEnding {
        try await first { if case .ended(_, let ending) = $0 { ending } else { nil } }
    }

    /// A call as soon as it is in a state.
    @discardableResult
    func told(_ state: Call.State, of id: CallID) async throws -> Call {
        if let call = calls[id], call.state == state { return call }
        return try await first {
            switch $0 {
            case .changed(let call, _), .begun(let call): call.id == id && call.state == state ? call : nil
            default: nil
            }
        }
    }
}
