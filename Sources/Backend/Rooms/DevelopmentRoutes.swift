package import HTTPServer
internal import HTTPTypes
internal import Identity
internal import Sockets
internal import Wire

/// `/v1/dev/session`, `/v1/dev/assistants` and `/v1/dev/administrator`, with `serve --dev` only: tokens for the gateway's own web
/// pages, so that calls need no login, and the dashboard no key.
///
/// They issue tokens without credentials, so they are limited to pages served by this gateway, in browsers on the same machine.
/// The browser says which page asks (`Sec-Fetch-Site`, `Origin`). A page of a foreign name that resolves to a loopback address (DNS rebinding)
/// is of the gateway's origin for the browser, but has that name in `Host`.
package enum DevelopmentRoutes {
    /// In seconds.
    private static let tokenSeconds: Int64 = 600

    package static func routes(
        keys: KeysInUse, publicURL: String? = nil, assistants: AssistantDirectory, dispatch: DispatchRegistry
    ) -> [Route] {
        let tokens = RoomTokenMinter(keys: keys, publicURL: publicURL)
        return [
            Route(
                .get, "/v1/dev/session", "A token for a new room, for the gateway's own pages in development mode", access: .open,
                parameters: [
                    .query(
                        "assistant", .text(1...ProtocolLimits.identityBytesMax),
                        "The assistant to dispatch; by default one that is connected"),
                    .query("voice", .choice(AssistantDefinition.voices), "The assistant's voice; by default its own"),
                    .query("language", .text(2...LanguageTag.bytesMax), "The language of the conversation; by default the assistant's"),
                ],
                responses: [.json(DevelopmentSession.self), .error(.badRequest), .error(.forbidden), .error(.notFound)]
            ) { request, _ in
                try checkPage(of: request)
                let assistant = try assistant(request.query("assistant"), assistants, dispatch)
                let choice = try SpeechChoice(voice: request.query("voice"), language: request.query("language"))
                let room = "dev-" + Hex.encode(randomBytes(6))
                let identity = Identity(text: "user-" + Hex.encode(randomBytes(3)))
                let token = try tokens.roomToken(
                    to: room, for: identity, host: request.host, lifetimeSeconds: tokenSeconds, attributes: choice.attributes,
                    agents: assistant.map { [TokenAgent(agentName: $0)] })
                return try .json(
                    DevelopmentSession(url: token.url, token: token.text, room: room, identity: identity.text, assistant: assistant))
            },
            Route(
                .get, "/v1/dev/assistants", "The assistants that a call without login chooses from", access: .open,
                responses: [.json(AssistantChoices.self), .error(.forbidden)]
            ) { request, _ in
                try checkPage(of: request)
                return try .json(AssistantChoices(assistants, dispatch, addsUndefined: true))
            },
            Route(
                .get, "/v1/dev/administrator", "A token for administration, for the gateway's own pages in development mode", access: .open,
                parameters: [
                    .query("room", .text(1...ProtocolLimits.roomNameBytesMax), "The room to administer; by default none")
                ],
                responses: [.json(DevelopmentAdministrator.self), .error(.forbidden)]
            ) { request, _ in
                try checkPage(of: request)
                let token = try tokens.administratorToken(room: request.query("room"), lifetimeSeconds: tokenSeconds)
                return try .json(DevelopmentAdministrator(token: token, expiresIn: tokenSeconds))
            },
        ]
    }

    /// - Throws: 403 unless the request comes from a page of this gateway, in a browser on this machine.
    private static func checkPage(of request: HTTPServerRequest) throws(HTTPError) {
        guard let host = request.host, isLoopback(host: host), isLoopback(peer: request.peerAddress) else {
            throw HTTPError(
                .loopbackOnly,
                "this route is for browsers on the gateway's machine, at https://127.0.0.1 or https://localhost")
        }
        let origin = request.headers[.origin]
        let isOwn = origin.map { $0 == "https://" + host || $0 == "http://" + host }
        let isSameOrigin = request.headers[.secFetchSite].map { $0 == "same-origin" && isOwn ?? true } ?? isOwn ?? false
        guard isSameOrigin else {
            throw HTTPError(
                .originNotAllowed, "this route is for the gateway's own pages; others get tokens with `patchbay token`")
        }
    }

    /// - Parameter host: a Host header, with or without a port.
    private static func isLoopback(host: String) -> Bool {
        // The colons of an IPv6 address are within brackets.
        let end = host.lastIndex(of: ":").flatMap { host[$0...].contains("]") ? nil : $0 } ?? host.endIndex
        let name = host[..<end]
        if name.lowercased() == "localhost" { return true }
        return IPAddress(name.hasPrefix("[") ? name.dropFirst().dropLast() : name).map { isLoopback($0) } ?? false
    }

    /// - Parameter peer: as in `HTTPServerRequest`: of an IPv6 address the network, which is `::` for `::1`.
    private static func isLoopback(peer: String) -> Bool { peer == "::" || IPAddress(peer).map { isLoopback($0) } ?? false }

    private static func isLoopback(_ address: IPAddress) -> Bool { loopback.contains { $0.contains(address) } }

    private static let loopback = ["127.0.0.0/8", "::1"].compactMap { try? IPNetwork($0) }

    /// The assistant to dispatch: the requested one, otherwise `default` if it has a worker, otherwise the first that has one. Nil if no
    /// worker is connected.
    private static func assistant(_ requested: String?, _ known: AssistantDirectory, _ dispatch: DispatchRegistry) throws(HTTPError)
        -> String?
    {
        let connected = dispatch.assistantsWithWorkers
        guard let requested else {
            return connected.contains(AssistantDefinition.builtIn.id) ? AssistantDefinition.builtIn.id : connected.first
        }
        guard connected.contains(requested) || known.definition(requested) != nil else { throw AssistantRoutes.notFound }
        return requested
    }
}

/// The voice and language that a user has chosen for a conversation, which assistants in its room use.
private struct SpeechChoice {
    let attributes: [String: String]

    /// - Throws: `HTTPError` with 400 for an invalid value.
    init(voice: String?, language: String?) throws(HTTPError) {
        guard language.map(LanguageTag.isValid) ?? true else {
            throw HTTPError(.invalidQuery, "language must be a BCP 47 tag, such as en or de-AT")
        }
        attributes = [SpeechAttribute.voice: voice, SpeechAttribute.language: language].compactMapValues { $0 }
    }
}

/// A token that lists rooms, and administers the requested one.
private struct DevelopmentAdministrator: Encodable, Sendable, Described {
    var token: String
    /// In seconds.
    var expiresIn: Int64

    static let schema = Schema.named(
        "DevelopmentAdministrator", .object([.required("token", .text), .required("expires_in", .integer(1...86_400))]))
}

/// A call that waits for its user.
private struct DevelopmentSession: Encodable, Sendable, Described {
    var url: String
    var token: String
    var room: String
    var identity: String
    /// The assistant that is dispatched to the room; nil if none is connected.
    var assistant: String?

    static let schema = Schema.named(
        "DevelopmentSession",
        .object([
            .required("url", .uri), .required("token", .text), .required("room", .text(1...ProtocolLimits.roomNameBytesMax)),
            .required("identity", .text(1...ProtocolLimits.identityBytesMax)),
            .optional("assistant", .text(1...ProtocolLimits.identityBytesMax)),
        ]))
}
