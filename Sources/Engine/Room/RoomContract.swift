package import Wire

extension Room {
    /// Inputs of a room, each passed with the time at which it occurred.
    package enum Input: Sendable {
        /// The room was opened without a participant: reports its start, as any first input does.
        case opened
        /// The room comes from an image: reports what was lost, as any first input does.
        case restored
        /// A participant with a valid token has connected. Answered by `hello` or `close`.
        case joined(ParticipantHandle, Admission)
        /// A request. The shell answers `ping` itself.
        case request(Request, id: UInt64?, from: ParticipantHandle)
        /// The participant's socket is closed. Not sent after a `close` effect.
        case left(ParticipantHandle, DisconnectReason)
        /// The participant's connection is lost and may resume under another handle. Its slot is kept until `handOver` or `close`.
        case connectionLost(ParticipantHandle, DisconnectReason)
        /// The client has received the `hello` of a resume: the resume token it used becomes invalid.
        case resumeConfirmed(ParticipantHandle)
        /// An administrative command, already authorised by the shell.
        case administered(AdminCommand)
        /// A talkspurt began or ended according to the track's meter.
        case talkStarted(TrackSID, at: MediaTime)
        case talkStopped(TrackSID, at: MediaTime, TalkEnd)
        /// Level measurements of this room's tracks, every 400 ms while there are tracks.
        case measured([TrackMeasurement])
        /// A playout report from the queue on the publisher's shard.
        case playout(TrackSID, PlayoutQueueReport)
        /// Connection statistics of one participant, every 5 s.
        case connectionMeasured(ParticipantHandle, ConnectionMeasurement)
        /// Another node of the cluster is the room's home from now on: everybody is disconnected to resume there, and nothing is recorded.
        case abandoned
        /// The gateway is shutting down. `deadline` in seconds since 1970.
        case draining(deadline: Int64)
        /// The home shard did not run for this long until now (`PauseDetector`).
        case paused(Duration)
        /// The time given by `deadline` has come.
        case deadlinePassed
    }

    /// Effects of a room, to be performed in this order.
    package enum Effect: Sendable, Hashable {
        /// Send to each of these handles; the shell adds the per-participant `seq`.
        case send(Event, to: [ParticipantHandle])
        /// An event that describes the past to a participant that has just joined, after its `hello` and before any other event. It is sent
        /// at the connection's own pace and does not count as backlog.
        case replay(Event, to: ParticipantHandle)
        case reply(Reply, re: UInt64, to: ParticipantHandle)
        /// An error: always counted, and sent if the request had an `id` or could not be parsed.
        case reject(RequestError, re: UInt64?, to: ParticipantHandle)
        case patch(PatchChange)
        /// Mint a token: sent as a reply if `re` is set, otherwise as `token.refreshed`.
        case mintToken(for: ParticipantHandle, TokenContent, re: UInt64?)
        /// A participant resumes on another socket: move the event log and sequence numbers from the old slot to the new one and
        /// replay missed events first. Send nothing more to the old slot, and close its socket if it is still open.
        case handOver(from: ParticipantHandle, to: ParticipantHandle)
        /// The participant has left: flush its queued messages, close its socket and free its slot.
        case close(ParticipantHandle, CloseReason)
        /// An audit event for services, if the room's `RoomReporting` wants it.
        case record(AuditEvent, Snapshot)
        /// The presence of an agent has changed, if the room's `RoomReporting` wants it. Not sent at the room's end.
        case agent(Identity, AgentPresence)
        /// The first user has come, or the last one has left, if the room's `RoomReporting` wants it. Not sent at the room's end.
        case attended(Bool)
        /// Copy the track's frames to the recorder from now on. Repeated wherever the publisher moves.
        case tap(RecordingTap, by: ParticipantHandle)
        /// Stop copying; the recording of this track is complete.
        case untap(TrackInfo, by: ParticipantHandle)
        /// The outcome of an administrator's procedure call, by the number that the shell gave it: the callee's payload, or the error that
        /// a participant would get.
        case procedureEnded(UInt64, Result<String, RequestError>)
        /// The last effect of a room.
        case closed
    }

    /// Changes of the patch panels (forwarding tables).
    package enum PatchChange: Sendable, Hashable {
        case publish(TrackInfo, by: ParticipantHandle)
        /// Also ends all subscriptions to the track; no `unsubscribe` follows.
        case unpublish(TrackAlias, by: ParticipantHandle)
        /// The publisher has a new handle; the subscribers stay the same.
        case move(TrackInfo, from: ParticipantHandle, to: ParticipantHandle, Gate, subscribers: [ParticipantHandle])
        /// A gate that is not open drops all frames.
        case gate(TrackAlias, by: ParticipantHandle, Gate)
        /// Drop the unreleased frames of an `ahead` track and reject older epochs. The publisher's shard answers with
        /// `PlayoutQueueReport.cleared`.
        case clear(TrackAlias, by: ParticipantHandle, epoch: UInt8)
        /// Retain frames of an `ahead` track from this time on, for subscribers that resume; nil if no subscriber needs any.
        case retain(TrackAlias, by: ParticipantHandle, from: MediaTime?)
        /// Keep the latest frames of a live track for an agent that is on its way, or stop.
        case keep(TrackInfo, by: ParticipantHandle, Bool)
        case subscribe(ParticipantHandle, to: TrackAlias, of: ParticipantHandle, SubscriptionOptions)
        case unsubscribe(ParticipantHandle, to: TrackAlias, of: ParticipantHandle)
    }

    package enum Gate: Sendable, Hashable {
        case open, muted, held
    }

    /// How a subscriber receives a track.
    package struct SubscriptionOptions: Sendable, Hashable {
        package var mode = TrackMode.live
        package var epoch: UInt8 = 0
        /// Media time at which to continue an `ahead` track; nil for the current position.
        package var from: MediaTime?
        /// Milliseconds of audio per frame, as published.
        package var frameMilliseconds = 20.0
        /// Subscription number, assigned by the room; distinguishes replies to an earlier subscription of the same subscriber.
        /// Wraps.
        package var number: UInt32 = 0
        /// Kept frames of a live track that precede the others; nil for none.
        package var earlier: EarlierSpeechLimit?
    }

    /// The earlier frames that an agent may receive.
    package enum EarlierSpeechLimit: Sendable, Hashable {
        case all
        /// Those that arrived after the agent was asked for: for an earlier agent of its assistant, others were live.
        case since(Instant)

        package var instant: Instant? { if case .since(let instant) = self { instant } else { nil } }
    }
}

extension Room.Effect {
    /// All participants that the effect names.
    package var named: [ParticipantHandle] {
        switch self {
        case .send(_, let audience): audience
        case .handOver(_, let handle), .replay(_, let handle): [handle]
        case .tap(_, let publisher), .untap(_, let publisher): [publisher]
        case .reply(_, _, let handle), .reject(_, _, let handle), .mintToken(let handle, _, _), .close(let handle, _): [handle]
        case .patch(.publish(_, let publisher)), .patch(.unpublish(_, let publisher)), .patch(.gate(_, let publisher, _)),
            .patch(.clear(_, let publisher, _)), .patch(.retain(_, let publisher, _)), .patch(.keep(_, let publisher, _)):
            [publisher]
        case .patch(.move(_, _, let publisher, _, let subscribers)): [publisher] + subscribers
        case .patch(.subscribe(let subscriber, _, let publisher, _)), .patch(.unsubscribe(let subscriber, _, let publisher)):
            [subscriber, publisher]
        case .record, .agent, .attended, .procedureEnded, .closed: []
        }
    }
}
