import PatchbayClient
import Testing
import Wire

/// The expected event did not arrive.
struct EventNotReceived: Error {}

/// Waits until a condition holds.
func until(_ condition: () async throws -> Bool) async throws {
    while try await !condition() { try await Task.sleep(for: .milliseconds(2)) }
}

extension RoomConnection {
    /// Reads events until `pick` returns a value.
    func first<Found>(_ pick: (RoomEvent) -> Found?) async throws -> Found {
        for await event in events { if let found = pick(event) { return found } }
        throw EventNotReceived()
    }

    /// Event names up to `last`.
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

    /// Waits for a number of reconnects.
    func hasReconnected(_ times: UInt64) async throws {
        while statistics.reconnects < times {
            if disconnection != nil { throw EventNotReceived() }
            try await Task.sleep(for: .milliseconds(2))
        }
    }

    /// Waits for a participant's track.
    func track(of identity: String) async throws -> TrackInfo {
        if let track = snapshot.tracks.first(where: { $0.participant.text == identity }) { return track }
        return try await first {
            if case .gateway(.trackPublished(let track), _) = $0, track.participant.text == identity { track } else { nil }
        }
    }
}

extension AsyncStream {
    /// The first elements, or all if the stream ends earlier.
    func prefix(_ count: Int) async -> [Element] {
        var elements: [Element] = []
        for await element in self {
            elements.append(element)
            if elements.count == count { break }
        }
        return elements
    }
}

extension Channel {
    /// Reads events until `pick` returns a value.
    func first<Found>(_ pick: (ChannelEvent) -> Found?) async throws -> Found {
        for await event in events { if let found = pick(event) { return found } }
        throw EventNotReceived()
    }

    /// Waits for the next incoming call.
    func ring() async throws -> Call {
        try await first { if case .incoming(let call) = $0 { call } else { nil } }
    }

    /// Waits for the next call to end.
    func ending() async throws -> CallEnding {
        try await first { if case .ended(_, let ending) = $0 { ending } else { nil } }
    }

    /// Waits until a call is in a state.
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
