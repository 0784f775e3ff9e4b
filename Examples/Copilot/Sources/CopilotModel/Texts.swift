public import PatchbayClient
internal import Wire

/// The texts of the app.
public enum Texts {
    public static let title = "AI Voice Copilot"
    /// The name of the other party in the system's call.
    public static let callee = "AI Assistant"
    public static let carItem = "Talk to Assistant"
    public static let callButton = "Call Assistant"
    public static let hangUpButton = "End Call"
    public static let recordingNotice = "Assistant call may be recorded for your summaries."

    public static let consentTitle = "Before your first call"
    public static let consent = "Your assistant calls can be recorded and summarized for your benefit."
    public static let consentDetails = """
        If you allow it, what you and the assistant say is transcribed, kept for 30 days and summarized for you in this app. You can read and \
        delete your sessions, and change your mind in the settings, at any time. Without it, calls are voice-only and leave no history.
        """
    public static let allow = "Allow logging & summaries"
    public static let decline = "Don't allow (voice-only, no history)"

    public static let noSessions = "Your sessions will appear here."
    public static let noSummary = "There is no summary."
    public static let summaryPending = "The summary is being made."
    public static let notLogged = "This session was not logged."
    public static let deleteAll = "Delete all history"
    public static let deleteAllQuestion = "Delete all sessions with their summaries and transcripts? This cannot be undone."
    public static let privacy = """
        While logging is on, new calls are transcribed and summarized, and kept for the chosen number of days. While it is off, new calls leave \
        no history; sessions that were logged before stay until they are deleted or too old.
        """

    /// Returns one line about a call, for phone and car. It never contains speech.
    public static func status(of state: AssistantCallState) -> String {
        switch state.phase {
        case .idle: ""
        case .starting, .connecting: "Calling…"
        case .reconnecting: "Reconnecting…"
        case .active:
            switch state.assistant {
            case .expected: "Waiting for the assistant…"
            case .waiting: "The assistant is busy. Waiting…"
            case .gone: "The assistant has left."
            case .present(.thinking): "Thinking…"
            case .present(.speaking): "Speaking"
            case .present: state.isMuted ? "Muted" : "Listening"
            }
        case .ended(.hungUp), .ended(.endedElsewhere): "Call ended"
        case .ended(.failed(let failure)): text(of: failure)
        }
    }

    public static func text(of failure: AssistantCallState.Failure) -> String {
        switch failure {
        case .loggedOut: "Please log in on your phone."
        case .unreachable: "The assistant cannot be reached. Check your connection."
        case .refused(let refusal) where refusal.code == .draining: "The assistant is being updated. Try again in a minute."
        case .refused: "The call was not possible."
        case .disconnected: "The connection was lost."
        }
    }

    public static func text(of error: AccountError) -> String {
        switch error {
        case .loggedOut: "Please log in again."
        case .unreachable: "The server cannot be reached. Check your connection."
        case .storage: "This device cannot keep your login."
        case .badAnswer: "The server's answer was not understood."
        case .refused(let refusal):
            switch refusal.code {
            case .emailTaken: "This e-mail address has an account. Log in instead."
            case .invalidCredentials: "E-mail address or password is wrong."
            case .tooManyAttempts, .tooManyRegistrations: "Too many attempts. Wait a minute."
            case .invalidBody: "Check what you have entered: a password has at least 8 characters."
            default: "That was not possible: \(refusal.message)"
            }
        }
    }
}
