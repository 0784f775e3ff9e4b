package import Wire

/// What a token allows: LiveKit's `video` claim, under LiveKit's names.
///
/// The optional properties keep "absent" apart from "false", since LiveKit's defaults differ: read the resolved answers
/// (`allowsPublishing` and its neighbours) to decide, the properties to copy a token.
package struct VideoGrant: Sendable, Hashable {
    /// The one room that `roomJoin` and `roomAdmin` are about; empty if none.
    package var room = ""
    package var roomJoin = false
    package var roomCreate = false
    package var roomList = false
    package var roomRecord = false
    package var roomAdmin = false
    package var ingressAdmin = false
    package var canPublish: Bool?
    package var canSubscribe: Bool?
    package var canPublishData: Bool?
    /// Sources that may be published (`microphone`, …). Empty is no restriction.
    package var canPublishSources: [String] = []
    package var canUpdateOwnMetadata: Bool?
    package var canSubscribeMetrics: Bool?
    package var canManageAgentSession: Bool?
    /// Others do not see the participant.
    package var hidden = false
    /// LiveKit's older way to say kind `egress`.
    package var recorder = false
    /// What lets a worker open `/agent`.
    package var agent = false
    /// Where a participant may be forwarded or moved to; empty if nowhere.
    package var destinationRoom = ""

    package init() {}

    /// A grant to join `room` with LiveKit's defaults.
    package static func joining(_ room: String) -> VideoGrant {
        var grant = VideoGrant()
        grant.room = room
        grant.roomJoin = true
        return grant
    }
}

extension VideoGrant {
    /// Absent is true.
    package var allowsPublishing: Bool { canPublish ?? true }
    /// Absent is true.
    package var allowsSubscribing: Bool { canSubscribe ?? true }
    /// Absent is what `allowsPublishing` says.
    package var allowsPublishingData: Bool { canPublishData ?? allowsPublishing }
    /// Name, metadata and attributes. Absent is false.
    package var allowsUpdatingOwnMetadata: Bool { canUpdateOwnMetadata ?? false }
    /// Absent is false.
    package var allowsMetricsSubscription: Bool { canSubscribeMetrics ?? false }
    /// Absent is false.
    package var allowsManagingAgentSessions: Bool { canManageAgentSession ?? false }

    /// Whether a track of `source` may be published. Linear in `canPublishSources`.
    package func allowsPublishing(source: String) -> Bool {
        allowsPublishing && (canPublishSources.isEmpty || canPublishSources.contains(source))
    }

    /// The resolved answers in the form in which the room keeps them.
    package var permission: Permission {
        Permission(
            canPublish: allowsPublishing, canSubscribe: allowsSubscribing, canPublishData: allowsPublishingData,
            canPublishSources: canPublishSources,
            canUpdateMetadata: allowsUpdatingOwnMetadata, hidden: hidden)
    }
}
