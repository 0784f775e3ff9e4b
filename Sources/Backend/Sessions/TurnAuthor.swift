internal import HTTPServer
internal import HTTPTypes
internal import Identity
internal import Store
internal import Wire

/// Who may add turns to a session.
enum TurnAuthor: Sendable {
    case user(UserID)
    /// A process of an assistant, which may serve the session.
    case assistant(String)
    /// A backend that may administer the session's room.
    case service
}

extension Access<TurnAuthor> {
    /// Requires a user's access token, an assistant's token, or one with `roomAdmin` for the room of the session in the path.
    static func turnAuthor(_ accounts: AccountService, _ keys: KeysInUse) -> Access {
        .token(refusing: [403], on: accounts.store.threads) { request in
            let text = try request.bearerToken
            let now = WallClock.seconds
            let subject: UserTokens.Subject
            do throws(TokenError) {
                subject = try accounts.tokens.verify(text, now: now).subject
            } catch .unknownIssuer {
                return try service(text, of: request, keys.current, now: now)
            } catch {
                throw HTTPError(.unauthorized, error.code, error.message)
            }
            return .user(try await accounts.user(subject))
        }
    }

    private static func service(_ text: String, of request: HTTPServerRequest, _ keys: KeyRing, now: Int64) throws(HTTPError) -> TurnAuthor
    {
        let token: AccessToken
        do throws(TokenError) {
            token = try TokenVerifier().verify(text, keys: keys, now: now)
        } catch {
            throw HTTPError(.unauthorized, error.code, error.message)
        }
        if let assistant = token.assistant { return .assistant(assistant) }
        do throws(GrantError) {
            try AdminGrant.administer(room: Session.roomPrefix + request.parameter("id").lowercased()).check(token)
        } catch {
            throw HTTPError(.forbidden, error.code, error.message)
        }
        return .service
    }
}

extension SessionService {
    /// Adds a turn to the session that it names.
    ///
    /// An assistant serves a session that was started with it, and one in whose room its agent is. Assistants and services may add turns until
    /// `StoreLimits.lateTurnsSpan` after the session's end.
    ///
    /// - Parameter isKeyed: the turn's id comes from an idempotency key.
    /// - Throws: `StoreError.notFound` also for a session that the author does not serve.
    func append(_ turn: Turn, by author: TurnAuthor, isKeyed: Bool) async throws -> TurnOutcome {
        switch author {
        case .user(let user): return try await store.append(turn, of: user, isKeyed: isKeyed)
        case .assistant(let assistant):
            let session = try await store.session(turn.sessionID)
            guard await serves(assistant, session) else { throw StoreError.notFound }
            return try await append(turn, to: session, isKeyed: isKeyed)
        case .service: return try await append(turn, to: try await store.session(turn.sessionID), isKeyed: isKeyed)
        }
    }

    private func serves(_ assistant: String, _ session: Session) async -> Bool {
        if session.assistantID == assistant { return true }
        return await rooms.participant(of: assistant, in: session.roomName)?.kind == .agent
    }

    private func append(_ turn: Turn, to session: Session, isKeyed: Bool) async throws -> TurnOutcome {
        if let end = session.endedAt, end + StoreLimits.lateTurnsSpan < .now {
            throw HTTPError(.conflict, "session_ended", "the session has ended more than a minute ago; only its user may add turns")
        }
        return try await store.append(turn, of: session.userID, isKeyed: isKeyed)
    }
}
