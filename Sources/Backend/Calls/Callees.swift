internal import Engine
internal import Store
internal import Wire

/// Looks up the users that a call's request names: by address, by handle, or as the members of a conversation.
struct Callees: Sendable {
    let accounts: AccountService
    let conversations: Conversations

    private static let tooManyUnknown = CallError(.limitExceeded, "too many callees were not found; wait a minute", retryable: true)

    /// Whether a request, or its reply, waits for the store: it names users, or starts a call, which is stored first.
    static func waitsForStore(_ request: CallRequest) -> Bool {
        if case .start = request { return true }
        return !called(by: request).isEmpty
    }

    /// The users that a request calls: only the store knows whether they exist and are reachable. Empty if there are more than a call may
    /// have, because such a request is refused.
    private static func called(by request: CallRequest) -> [CallParty] {
        let parties: [CallParty] =
            switch request {
            case .start(let start): start.to
            case .invite(_, let parties): parties
            default: []
            }
        guard parties.count < ProtocolLimits.callMembersMax else { return [] }
        return parties.filter { !$0.isAssistant }
    }

    /// Replaces the addresses of the users that a request calls by their ids.
    ///
    /// - Returns: the request, and those of its parties that do not exist or are not reachable for the requester.
    /// - Throws: `CallError`, with `limitExceeded` for a requester of too many such parties, whomever it calls; `StoreError`.
    func resolve(_ request: CallRequest, of caller: Identity) async throws -> (CallRequest, unknown: Set<CallParty>) {
        if case .start(let start) = request, let conversation = start.conversation {
            return (.start(start.calling(try await members(of: conversation, for: caller, besides: start.to))), [])
        }
        let parties = Self.called(by: request)
        guard !parties.isEmpty else { return (request, []) }
        let (guesses, names) = (accounts.guesses, [AccountService.callees(of: caller.text)])
        guard let reservation = guesses.reserve(parties.count, for: names) else { throw Self.tooManyUnknown }
        var unknown: Set<CallParty> = []
        defer { guesses.settle(reservation, failures: unknown.count) }
        let addresses = Dictionary(parties.map { ($0, UserAddress(text: $0.text)) }) { first, _ in first }.compactMapValues(\.self)
        let found = try await accounts.store.callees(
            at: Array(addresses.values), for: UserID(text: caller.text), isConfirmed: accounts.settings.confirmsEmail)
        let users = addresses.compactMapValues { found[$0].map { CallParty.user(Identity(text: $0.text)) } }
        unknown = Set(parties.filter { users[$0] == nil })
        return (request.calling { users[$0] ?? $0 }, unknown)
    }

    /// Returns the other members who have joined a conversation and whom the caller can reach.
    ///
    /// - Parameter parties: must be empty, because a call has a single list of callees.
    private func members(
        of conversation: String, for caller: Identity, besides parties: [CallParty]
    ) async throws -> [CallParty] {
        guard parties.isEmpty else { throw CallError(.invalidArgument, "give either `to` or `conversation`") }
        guard let user = UserID(text: caller.text), let id = ConversationID(text: conversation) else { throw CallError.noSuchConversation }
        do {
            var others: [UserID] = []
            var cursor: NumberCursor?
            repeat {
                let page = try await conversations.members(of: id, for: user, after: cursor, limit: StoreLimits.linesPerPageMax)
                others += page.elements.filter { $0.state == .joined && $0.user != user }.map(\.user)
                cursor = page.next
            } while cursor != nil
            guard others.count < ProtocolLimits.callMembersMax else {
                throw CallError(.limitExceeded, "a call has at most \(ProtocolLimits.callMembersMax) members; the conversation has more")
            }
            let reachable = try await accounts.store.callees(at: others.map(UserAddress.id), for: user)
            let callees = others.filter { reachable[.id($0)] != nil }
            guard !callees.isEmpty else { throw CallError(.notFound, "nobody else in this conversation can be called") }
            return callees.map { .user(Identity(text: $0.text)) }
        } catch StoreError.notFound {
            throw CallError.noSuchConversation
        }
    }
}

extension CallError {
    /// The error for an unknown conversation, and for one of other users.
    fileprivate static var noSuchConversation: CallError { CallError(.notFound, "you are in no such conversation") }
}

extension CallStart {
    fileprivate func calling(_ parties: [CallParty]) -> CallStart {
        var start = self
        start.to = parties
        return start
    }
}

extension CallRequest {
    /// The request with the parties that it calls replaced.
    fileprivate func calling(_ replacement: (CallParty) -> CallParty) -> CallRequest {
        switch self {
        case .start(var start):
            start.to = start.to.map(replacement)
            return .start(start)
        case .invite(let call, let parties): return .invite(call, parties.map(replacement))
        default: return self
        }
    }
}
