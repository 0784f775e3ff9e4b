internal import Synchronization
internal import Wire

/// The room of an `AssistantCall`: joins it, sends the microphone, plays the assistant, and reports changes.
final class AssistantCallRoom: Sendable {
    private struct State: ~Copyable {
        /// The joined rooms by attempt. Besides the current one, an earlier one may still be being left.
        var rooms: [Int: RoomConnection] = [:]
        /// The latest attempt, and the latest one that has ended. Attempt numbers increase.
        var latest = 0
        var left = 0
        var muted: Set<Int> = []
        /// Attempts whose mute state is being sent.
        var sending: Set<Int> = []
        var voices: [Int: LocalTrack] = [:]
    }

    private let core: AssistantCallCore
    private let audio: any AssistantCallAudio
    private let options: RoomOptions
    private let state = Mutex(State())

    init(core: AssistantCallCore, audio: any AssistantCallAudio, options: RoomOptions) {
        self.core = core
        self.audio = audio
        self.options = options
    }

    /// Joins the room, and sends and plays audio until the room ends.
    func run(_ session: Sessions.Started, _ attempt: Int) async {
        state.withLock { $0.latest = max($0.latest, attempt) }
        let room: RoomConnection
        do {
            room = try await RoomConnection.connect(url: session.livekitUrl, token: session.livekitToken, options: options)
        } catch {
            return core.handle(.joinFailed(error, attempt: attempt))
        }
        let isLeft = state.withLock { state in
            state.rooms[attempt] = room
            return state.left >= attempt
        }
        if isLeft {
            state.withLock { $0.rooms[attempt] = nil }
            return await room.leave()
        }
        core.handle(.joined(attempt: attempt))
        await withDiscardingTaskGroup { group in
            group.addTask { await self.sendMicrophone(to: room, attempt) }
            await self.follow(room, attempt)
            group.cancelAll()
        }
        let isLatest = state.withLock { state in
            state.rooms[attempt] = nil
            state.voices[attempt] = nil
            state.muted.remove(attempt)
            return state.latest == attempt
        }
        // The next call may already be using the devices.
        if isLatest { await audio.stop() }
    }

    func leave(_ attempt: Int) async {
        let room = state.withLock { state in
            state.left = max(state.left, attempt)
            return state.rooms[attempt]
        }
        await room?.leave()
    }

    /// Sends silence instead of the microphone, or the microphone again.
    func setMuted(_ isMuted: Bool, _ attempt: Int) {
        state.withLock { state in
            if isMuted { state.muted.insert(attempt) } else { state.muted.remove(attempt) }
        }
    }

    /// Mutes or unmutes the track, so that the gateway drops the frames of a muted one. Requests are sent one at a time, so that the last
    /// one has the latest state.
    func sendMute(_ attempt: Int) async {
        guard state.withLock({ $0.sending.insert(attempt).inserted }) else { return }
        var isSent = false
        while !isSent {
            let (voice, isMuted) = state.withLock { ($0.voices[attempt], $0.muted.contains(attempt)) }
            // If the connection is lost, the request may be lost, too; the track sends silence nevertheless.
            try? await voice?.mute(isMuted)
            isSent = state.withLock { state in
                guard state.voices[attempt] == nil || state.muted.contains(attempt) == isMuted else { return false }
                state.sending.remove(attempt)
                return true
            }
        }
    }

    private func sendMicrophone(to room: RoomConnection, _ attempt: Int) async {
        do {
            let pieces = try await audio.microphone()
            let voice = try await room.publish(name: "mic", source: .microphone)
            let isMuted = state.withLock { state in
                state.voices[attempt] = voice
                return state.muted.contains(attempt)
            }
            if isMuted { await sendMute(attempt) }
            var source = try voice.makePCMSource()
            for await piece in pieces {
                let isMuted = state.withLock { $0.muted.contains(attempt) }
                try await source.write(isMuted ? [Int16](repeating: 0, count: piece.count) : piece)
            }
        } catch is CancellationError {
            // The call has ended.
        } catch RequestFailure.ended {
            // The room has ended.
        } catch {
            core.handle(.room(.microphoneFailed("\(error)"), attempt: attempt))
        }
    }

    /// Reports events and plays tracks until the room ends.
    private func follow(_ room: RoomConnection, _ attempt: Int) async {
        let user = room.localParticipant.identity.user
        await withDiscardingTaskGroup { group in
            var played: Set<TrackSID> = []
            for await event in room.events {
                // The user's other devices are in the same place; playing them would cause an echo.
                for track in event.newTracks where track.participant.user != user && played.insert(track.sid).inserted {
                    group.addTask {
                        for await chunk in room.pcm(of: track.sid) { await self.audio.play(chunk, of: track.sid) }
                    }
                }
                if let change = Self.change(event, in: room) { core.handle(.room(change, attempt: attempt)) }
            }
            group.cancelAll()
        }
    }

    private static func change(_ event: RoomEvent, in room: RoomConnection) -> AssistantCallMachine.RoomChange? {
        switch event {
        case .reconnecting: .reconnecting
        case .reconnected: .reconnected
        case .disconnected(let reason): .disconnected(reason)
        case .gateway(.hello(let hello), _): hello.participants.lazy.compactMap(\.assistantState).first.map { .assistant(.present($0)) }
        case .gateway(.agentJoined(let info), _), .gateway(.participantJoined(let info), _):
            info.assistantState.map { .assistant(.present($0)) }
        case .gateway(.agentState(_, let state), _): .assistant(.present(state))
        case .gateway(.agentWaiting(_, .ended), _): .assistant(.gone)
        case .gateway(.agentWaiting(_, let reason), _): .assistant(.waiting(reason))
        case .gateway(.agentLost, _): .assistant(.gone)
        case .gateway(.participantLeft(let identity, _), _):
            CallParty(identity).isAssistant ? .assistant(.gone) : nil
        default: nil
        }
    }
}

extension Identity {
    /// The user of a device in a session: the first device has the user's identity, others add a suffix (docs/protocol/accounts.md,
    /// "Sessions").
    fileprivate var user: Substring { text.prefix { $0 != "." } }
}

extension ParticipantInfo {
    /// The state of an assistant; nil for other participants.
    fileprivate var assistantState: AgentState? {
        // A clip that is played into the room is an agent, too.
        guard kind == .agent, !identity.text.hasPrefix("speech:") else { return nil }
        return attributes[AgentState.attribute].flatMap(AgentState.init) ?? .initializing
    }
}
