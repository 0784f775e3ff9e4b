public import PatchbayClient

/// The car's only screen: a list with one item. It never shows speech, a transcript or a summary.
public struct CarScreen: Sendable, Hashable {
    public var title = Texts.title
    public var item = Texts.carItem
    /// The state of the call; empty without a call.
    public var detail: String
    /// Whether the item starts a call.
    public var isEnabled: Bool

    public init(_ state: AssistantCallState) {
        detail = Texts.status(of: state)
        isEnabled = !state.isInCall
    }
}

/// The phone's home screen during and between calls.
public struct HomeScreen: Sendable, Hashable {
    public enum Button: Sendable, Hashable {
        case call, hangUp
    }

    public var button: Button
    public var status: String
    /// The notice while a call may be recorded.
    public var notice: String?
    /// The reason why the user is not heard.
    public var microphoneProblem: String?

    public init(_ state: AssistantCallState) {
        button = state.isInCall ? .hangUp : .call
        status = Texts.status(of: state)
        notice = state.showsRecordingNotice ? Texts.recordingNotice : nil
        microphoneProblem = state.isInCall && state.microphoneProblem != nil ? "Allow the microphone in the system's settings." : nil
    }
}

/// A session's page on the phone.
public struct SessionScreen: Sendable, Hashable {
    public var title: String
    public var summary: String
    public var actionItems: [String]
    public var tags: [String]
    public var turns: [Sessions.Turn]

    public init(_ detail: Sessions.Detail) {
        title = detail.summary?.title ?? "Session"
        summary =
            switch (detail.summary, detail.session.summaryStatus) {
            case (let summary?, _): summary.summaryText
            case (nil, .none): Texts.notLogged
            case (nil, .pending): Texts.summaryPending
            case (nil, .ready), (nil, .failed): Texts.noSummary
            }
        actionItems = detail.summary?.actionItems ?? []
        tags = detail.summary?.tags ?? []
        turns = detail.turns
    }
}
