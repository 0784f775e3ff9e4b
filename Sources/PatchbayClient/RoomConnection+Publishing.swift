public import Wire

extension RoomConnection {
    /// Publishes a track of ours. Everybody else in the room is told.
    ///
    /// - Parameters:
    ///   - name: for people, at most 256 bytes.
    ///   - source: what it is. Assistants speak with `.assistant`.
    ///   - mode: how its frames wait in the gateway.
    ///   - frameMilliseconds: how much sound a packet will hold: 2.5, 5, 10, 20, 40, 60, 80, 100 or 120.
    ///   - dtx: whether packets are left out while nobody speaks.
    ///   - fec: whether packets carry in-band error correction.
    ///   - channels: 1 or 2.
    /// - Throws: `RequestFailure`.
    public func publish(
        name: String = "", source: TrackSource = .microphone, mode: TrackMode = .live, frameMilliseconds: Double = 20, dtx: Bool = false,
        fec: Bool = false, channels: Int = 1
    ) async throws(RequestFailure) -> LocalTrack {
        let description = PublishTrack(
            name: name, source: source, mode: mode, frameMs: frameMilliseconds, dtx: dtx, fec: fec, channels: channels)
        return try await withCheckedContinuation { door.post(.publish(description, timeout: options.requestTimeout, $0)) }.get()
    }
}
