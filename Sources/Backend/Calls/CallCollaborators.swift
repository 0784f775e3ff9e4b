package import Engine
internal import HTTPServer
package import Store
package import Wire

/// `CallService`'s dependencies. The closures must not block.
package struct CallCollaborators: Sendable {
    package var server: ServerInfo
    /// The webhooks for a change.
    package var announcement: @Sendable (CallRecord) -> Announcement
    /// Dispatches an assistant that has no channel to a call's room. Returns false for an unknown assistant, which then fails the call at
    /// once.
    package var dispatch: @Sendable (_ assistant: String, CallInfo) -> Bool
    /// Cancels a dispatch.
    package var recall: @Sendable (_ assistant: String, CallID) -> Void
    package var operatorLog = OperatorLog.silent
    /// In a cluster, the name under which changes of all calls are stored in order, and refused once another node serves calls; nil: each
    /// call's room.
    package var writesAs: String?
    /// How long a response waits until what it promises or lists is stored. A store that is slow or full must not stop calls.
    package var storeWaitMax = Duration.seconds(1)
    /// Wakes the devices of a called user; with `writesAs`, once the start of the call is stored.
    package var push: @Sendable (PushRequest) -> Void = { _ in }
    /// Receives changes of who is talking in calls to the members of conversations.
    package var conversations = ConversationOutlet.none

    package init(
        server: ServerInfo, announcement: @escaping @Sendable (CallRecord) -> Announcement = { _ in Announcement() },
        dispatch: @escaping @Sendable (_ assistant: String, CallInfo) -> Bool = { _, _ in false },
        recall: @escaping @Sendable (_ assistant: String, CallID) -> Void = { _, _ in }
    ) {
        self.server = server
        self.announcement = announcement
        self.dispatch = dispatch
        self.recall = recall
    }
}
