package import Engine
package import Store
package import Wire

/// What others have to do with calls. All must answer at once.
package struct CallHooks: Sendable {
    /// What other servers are told of a change.
    package var webhooks: @Sendable (CallRecord) -> [OutgoingWebhook]
    /// Sends an assistant to a call's room, none of whose processes has a channel. False if there is none of that name: the call fails for
    /// it at once.
    package var dispatch: @Sendable (_ assistant: String, CallInfo) -> Bool
    /// It need not come any more.
    package var recall: @Sendable (_ assistant: String, CallID) -> Void

    package init(
        webhooks: @escaping @Sendable (CallRecord) -> [OutgoingWebhook] = { _ in [] },
        dispatch: @escaping @Sendable (_ assistant: String, CallInfo) -> Bool = { _, _ in false },
        recall: @escaping @Sendable (_ assistant: String, CallID) -> Void = { _, _ in }
    ) {
        self.webhooks = webhooks
        self.dispatch = dispatch
        self.recall = recall
    }
}
