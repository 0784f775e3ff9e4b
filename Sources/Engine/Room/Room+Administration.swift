package import Wire

/// Administrative commands. They are authorised by the shell and act without a participant that requests them.
extension Room {
    /// Administrative commands, from the HTTP API or from within the process.
    package enum AdminCommand: Sendable {
        case delete
        case close(DisconnectReason)
        /// Without a sender in the room; to the named participants or to everybody. Unknown identities are ignored.
        case sendData(DataMessage)
        case startRecording
        /// Nil stops any recording.
        case stopRecording(RecordingID?, RecordingEnd)
        case remove(Identity)
        /// Ends the stay of a participant whose connection is lost, before its resume window is over.
        case giveUp(Identity)
        case mute(TrackSID, muted: Bool)
        case updateMetadata(String)
        case updatePermission(Identity, Permission)
        /// Changes name, metadata and attributes as the participant's own `participant.update` does, and its permission unless that is nil.
        case updateParticipant(Identity, ParticipantUpdate, Permission?)
        /// Same as the participant's own `subscribe`, for all of these tracks or none.
        case subscribe(Identity, [TrackSID], Bool)
        /// Calls a procedure without a caller in the room; the outcome is `Effect.procedureEnded` with this number, which the shell chooses.
        case callProcedure(ProcedureCall, number: UInt64)
        /// Same as the participant's own `call.hold`.
        case hold(Identity, Bool)
        /// Mutes all current and future tracks of the participant.
        case muteParticipant(Identity, Bool)
        /// An assistant that was asked for cannot come yet, or does not come.
        case agentWaiting(Identity, AgentWaitReason)
        /// A job waits for its agent, or does not any more: earlier speech is kept meanwhile.
        case agentExpected(Identity, Bool)
    }

    /// Checks what a command asks of a participant in the room. A refused command has no effect. Unknown participants are not checked.
    package func check(_ command: AdminCommand) throws(RequestError) {
        switch command {
        case .updateParticipant(let identity, let update, _): try members[identity]?.profile.check(update)
        case .subscribe(let identity, let sids, let subscribed):
            guard let participant = members[identity] else { return }
            for sid in sids { try checkSubscription(of: participant, to: sid, subscribed) }
        default: break
        }
    }

    /// Performs an administrative command. Commands that name unknown participants or tracks have no effect; the shell checks and
    /// answers.
    mutating func administer(_ command: AdminCommand) {
        guard (try? check(command)) != nil else { return }
        switch command {
        case .delete: close(.roomDeleted)
        case .close(let reason): close(reason)
        case .sendData(let message): deliver(message, from: nil, to: members.recipients(of: message.to))
        case .startRecording: startRecording()
        case .stopRecording(let id, let end): stopRecording(id, end)
        case .remove(let identity):
            if let handle = members.handle(of: identity) { depart(handle, .participantRemoved, closing: .removed) }
        case .giveUp(let identity):
            guard let participant = members[identity], let window = participant.connection.reconnectWindow else { return }
            depart(participant.handle, window.reason, closing: .resumeWindowOver)
        case .mute(let track, let muted): setMuted(muted, track)
        case .updateMetadata(let metadata):
            guard info.metadata != metadata else { return }
            info.metadata = metadata
            send(.roomUpdated(info), to: everyone)
        case .updatePermission(let identity, let permission): update(identity, ParticipantUpdate(), permission)
        case .updateParticipant(let identity, let changes, let permission): update(identity, changes, permission)
        case .subscribe(let identity, let sids, let subscribed): subscribe(identity, to: sids, subscribed)
        case .callProcedure(let call, let number): callProcedure(call, number: number)
        case .hold(let identity, let held):
            if let index = members.index(of: identity) { hold(held, by: nil, at: index) }
        case .muteParticipant(let identity, let silenced):
            if let index = members.index(of: identity) { silence(silenced, ofParticipantAt: index) }
        case .agentWaiting(let agent, let reason): noteWaiting(agent, reason)
        case .agentExpected(let agent, let isExpected): expect(agent, isExpected)
        }
    }

    private mutating func subscribe(_ identity: Identity, to sids: [TrackSID], _ subscribed: Bool) {
        guard !sids.isEmpty, let index = members.index(of: identity) else { return }
        updateSubscriptions(index) { participant in
            for sid in sids { participant.subscriptionOverrides[sid] = subscribed }
        }
        if subscribed { noteSubscribed(members[at: index].handle) }
    }
}
