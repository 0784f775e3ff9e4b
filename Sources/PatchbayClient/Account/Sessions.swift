public import Foundation
internal import NIOHTTP1
internal import Wire

/// The sessions of an account's user: conversations with an assistant, with their summaries and, if logged, their turns.
public struct Sessions: Sendable {
    let account: Account

    /// Starts a session.
    ///
    /// - Parameters:
    ///   - context: the kind of device. A car's display receives no text during the session.
    ///   - assistant: the assistant's id; nil lets the gateway choose.
    ///   - clientContext: context for the assistant, up to 64 KiB.
    ///   - voice: the assistant's voice; nil for that of the user's settings.
    ///   - language: the user's language as a BCP 47 tag; nil for that of the user's settings.
    ///   - idempotencyKey: requests with the same key within a day start only one session.
    /// - Throws: `AccountError`.
    public func start(
        _ context: Context, assistant: String? = nil, clientContext: String? = nil, voice: String? = nil, language: String? = nil,
        idempotencyKey: String = UUID().uuidString
    ) async throws(AccountError) -> Started {
        let body = StartBody(
            context: context, assistantId: assistant, clientContext: clientContext, voice: voice, language: language)
        return try await account.send(
            .POST, "/v1/sessions/start", body: GatewayHTTP.body(body), idempotencyKey: idempotencyKey, Started.self)
    }

    /// Ends a session, even one that another device started. The summary is generated afterwards. Idempotent.
    @discardableResult
    public func end(_ id: String) async throws(AccountError) -> Session {
        try await account.send(.POST, "/v1/sessions/end", body: GatewayHTTP.body(["session_id": id], names: .asDeclared), Session.self)
    }

    /// Returns credentials with which this device joins a running session of the user.
    public func join(_ id: String, _ context: Context) async throws(AccountError) -> Started {
        try await account.send(
            .POST, "\(try path(id))/token", body: GatewayHTTP.body(["context": context.rawValue], names: .asDeclared), Started.self)
    }

    /// Adds a turn. The gateway adds the turns of the room's transcripts itself.
    ///
    /// - Parameter idempotencyKey: requests with the same key add only one turn.
    /// - Returns: whether the turn was stored; false if the session is not logged.
    @discardableResult
    public func log(
        _ turn: NewTurn, in id: String, idempotencyKey: String = UUID().uuidString
    ) async throws(AccountError) -> Bool {
        try await account.send(
            .POST, "\(try path(id))/turn", body: GatewayHTTP.body(turn), idempotencyKey: idempotencyKey, TurnReceipt.self
        ).stored
    }

    /// Returns a page of the sessions, newest first.
    ///
    /// - Parameters:
    ///   - limit: 1 to 200.
    ///   - cursor: the previous page's `next`; nil for the first page.
    public func list(limit: Int = 50, after cursor: String? = nil) async throws(AccountError) -> Page {
        let next = cursor.map { "&cursor=\(GatewayHTTP.escaped($0))" } ?? ""
        let response = try await account.send(.GET, "/v1/sessions?limit=\(limit)\(next)")
        return Page(sessions: try response.decoded([Line].self), next: response.nextCursor)
    }

    /// Returns a session with its summary and turns.
    public func detail(_ id: String) async throws(AccountError) -> Detail {
        try await account.send(.GET, try path(id), Detail.self)
    }

    /// Deletes a session and all its data.
    public func delete(_ id: String) async throws(AccountError) {
        _ = try await account.send(.DELETE, try path(id))
    }

    /// Deletes all of the user's sessions.
    public func deleteAll() async throws(AccountError) {
        _ = try await account.send(.DELETE, "/v1/sessions")
    }

    /// Returns the path of a session.
    ///
    /// - Throws: `AccountError.refused` for an invalid id, as the gateway would, because such an id could name another route.
    private func path(_ id: String) throws(AccountError) -> String {
        guard UUID(uuidString: id) != nil else {
            throw .refused(GatewayRefusal(status: 404, code: .notFound, message: "there is no session with the id \"\(id)\""))
        }
        return "/v1/sessions/\(id)"
    }

    private struct StartBody: Encodable {
        var context: Context
        var assistantId: String?
        var clientContext: String?
        var voice: String?
        var language: String?
    }

    private struct TurnReceipt: Decodable {
        var stored: Bool
    }
}
