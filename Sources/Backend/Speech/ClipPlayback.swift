internal import HTTPServer
internal import HTTPTypes
internal import Identity
internal import Logging
internal import Synchronization
internal import Wire

/// Plays a clip into a room of this gateway, as a participant of its own. Thread-safe.
package protocol ClipPlayer: Sendable {
    /// Joins the room, publishes a track, plays the file in real time and leaves. Returns soon after its task is cancelled.
    ///
    /// - Parameters:
    ///   - file: Ogg Opus.
    ///   - token: a room token.
    ///   - started: call once when the track is published.
    func play(_ file: [UInt8], token: String, started: @escaping @Sendable () -> Void) async throws
}

/// The clips that are being played. Decides who may play into which room.
final class ClipPlayback: Sendable {
    /// Clips played at once. Further ones are refused.
    private static let playsMax = 32

    private struct State {
        var plays: [Int: Task<Void, Never>] = [:]
        var last = 0
        var isStopped = false
    }

    private let player: any ClipPlayer
    private let rooms: RoomService
    private let sessionRooms: SessionRooms
    private let tokens: RoomTokenMinter
    private let state = Mutex(State())
    private let log = Logger(label: "patchbay.speech")

    init(_ player: any ClipPlayer, rooms: RoomService, sessionRooms: SessionRooms, tokens: RoomTokenMinter) {
        self.player = player
        self.rooms = rooms
        self.sessionRooms = sessionRooms
        self.tokens = tokens
    }

    /// Returns when the clip has started to play.
    ///
    /// - Throws: `HTTPError`.
    func play(_ file: [UInt8], in room: String, by requester: SpeechRequester) async throws(HTTPError) {
        guard try await mayPlay(requester, in: room) else { throw RoomService.roomNotFound }
        let identity = Identity(text: "speech:" + Hex.encode(randomBytes(8)))
        // Only the token is used, so the host does not matter.
        let token = try tokens.roomToken(to: room, for: identity, host: "localhost", name: "Speech", kind: .agent).text
        let (starts, start) = AsyncStream.makeStream(of: Bool.self, bufferingPolicy: .bufferingOldest(1))
        let isAccepted = state.withLock { state in
            guard state.plays.count < Self.playsMax, !state.isStopped else { return false }
            state.last += 1
            let number = state.last
            state.plays[number] = Task { [self] in
                do {
                    try await player.play(file, token: token) { start.yield(true) }
                } catch is CancellationError {
                } catch {
                    log.warning("a clip was not played to its end", metadata: ["room": "\(room)", "error": "\(error)"])
                }
                start.finish()
                self.state.withLock { $0.plays[number] = nil }
            }
            return true
        }
        guard isAccepted else {
            throw HTTPError(.speechBusy, "too many clips are being played; try again", retryAfterSeconds: 5)
        }
        for await _ in starts { return }
        throw HTTPError(.clipNotPlayed, "the room did not admit the clip's participant")
    }

    /// Users may play into their sessions' rooms, assistants into rooms that they are in, administrators into all open rooms except calls.
    private func mayPlay(_ requester: SpeechRequester, in room: String) async throws(HTTPError) -> Bool {
        guard try await rooms.isOpen(room) else { return false }
        switch requester {
        case .administrator: return !CallRooms.isCallRoom(room)
        case .user(let user): return sessionRooms.owner(of: room)?.user == user
        case .assistant(let id): return try await rooms.participant(of: id, in: room) != nil
        case .earlierService: return false
        }
    }

    /// Stops all clips and refuses new ones.
    func stop() async {
        let plays = state.withLock { state in
            state.isStopped = true
            return Array(state.plays.values)
        }
        for play in plays { play.cancel() }
        for play in plays { await play.value }
    }
}
