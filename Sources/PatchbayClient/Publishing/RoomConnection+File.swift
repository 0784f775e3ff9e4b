internal import Audio
internal import Wire

extension RoomConnection {
    /// Joins a room, plays an Ogg Opus file on a track of its own in real time, and leaves.
    ///
    /// - Parameter started: called when the track is published.
    /// - Throws: `OggOpusError`, `ConnectError`, `RequestFailure`, `CancellationError`.
    package static func play(
        _ file: [UInt8], url: String, token: String, options: RoomOptions, started: @Sendable () -> Void = {}
    ) async throws {
        var speech = try OggSpeech(file)
        let channels = speech.head.channels
        let room = try await connect(url: url, token: token, options: options)
        do {
            let track = try await room.publish(name: "clip", source: .assistant, channels: channels)
            started()
            try await track.speak(frames: { try speech.next() })
        } catch {
            await room.leave()
            throw error
        }
        await room.leave()
    }
}
