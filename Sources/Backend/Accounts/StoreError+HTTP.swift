package import HTTPServer
package import Store

extension HTTPError {
    static let idempotencyKeyReused = HTTPError(
        .idempotencyKeyReused,
        "this Idempotency-Key was used for a request with another body; use a new key")
}

extension StoreError: HTTPErrorConvertible {
    package var httpError: HTTPError {
        switch self {
        case .notFound: HTTPError(.notFound, "there is no such thing")
        case .handleTaken: HTTPError(.handleTaken, "another user has this handle; choose another one")
        case .emailTaken: HTTPError(.emailTaken, "this e-mail address has an account")
        case .invalidCursor: HTTPError(.invalidCursor, "the cursor is invalid; start again without one")
        case .keyReused: .idempotencyKeyReused
        case .tooManySessions: HTTPError(.tooManySessions, "this user has 1,000 running sessions; end some first")
        case .tooManyInvitations:
            HTTPError(
                .tooManyInvitations, "this user has not answered 10 of your invitations; wait for an answer",
                retryAfterSeconds: 60)
        case .refused(let reason): HTTPError(.invalidValue, reason)
        case .full:
            HTTPError(
                .storeFull,
                "the store is full; nothing was written, try again later", retryAfterSeconds: 30)
        case .busy, .cancelled:
            HTTPError(.storeBusy, "the store is busy; try again", retryAfterSeconds: 1)
        case .superseded:
            HTTPError(.storeBusy, "the room has moved to another gateway; try again", retryAfterSeconds: 1)
        case .unreachable:
            .storeUnavailable
        default: HTTPError(.storeFailed, "the store failed; see the gateway's log for this request ID")
        }
    }
}
