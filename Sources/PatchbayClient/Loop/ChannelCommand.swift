internal import Wire

typealias ChannelOpening = CheckedContinuation<Result<CallsHello, ConnectError>, Never>
typealias CallAnswer = CheckedContinuation<Result<CallReply, RequestFailure>, Never>

/// All that a channel's session is made from.
struct ChannelPlan: Sendable {
    var door: ChannelDoor
    var address: GatewayAddress
    var token: String
    /// Gives a fresher token; nil where the app renews by itself.
    var tokens: UserTokenSource?
    var events: AsyncStream<CallChannelEvent>.Continuation
}

/// What a caller wants of one channel.
enum ChannelCommand: Sendable {
    case ask(CallRequest, timeout: Duration, CallAnswer)
    /// Something that wants no answer.
    case tell(CallRequest)
    /// Goes on with another token, on another connection.
    case renew(token: String)
    /// What the source of tokens was asked for; nil if it has none now.
    case fresh(token: String?)
    case close(done: CheckedContinuation<Void, Never>?)
    /// Ends the socket without a word, as a broken cable would.
    case cut

    /// Answers for a channel that cannot.
    func refuse(_ failure: RequestFailure) {
        switch self {
        case .ask(_, _, let answer): answer.resume(returning: .failure(failure))
        case .close(let done): done?.resume()
        case .tell, .renew, .fresh, .cut: break
        }
    }
}
