package import HTTPServer
internal import HTTPTypes
internal import Identity
internal import Sockets
internal import SwiftProtobuf
internal import Wire

/// `/twirp/livekit.*`: LiveKit's server API, a thin mapping onto the services that the gateway's own routes use
/// (docs/protocol/livekit-api.md).
package enum LiveKitRoutes {
    package static func routes(_ rooms: RoomService, _ dispatch: DispatchService, _ recordings: RoomRecordings?, keys: KeysInUse) -> [Route]
    {
        let service = TwirpService(name: "RoomService", keys: keys)
        return RoomServiceMethods(rooms: rooms, service: service).routes
            + ParticipantMethods(rooms: rooms, service: service).routes
            + DataMethods(rooms: rooms, service: service).routes
            + AgentDispatchMethods(
                dispatch: dispatch, service: TwirpService(name: "AgentDispatchService", keys: keys) { try await dispatch.checkIsHere() }
            ).routes
            + EgressMethods(rooms: rooms, recordings: recordings, service: TwirpService(name: "Egress", keys: keys)).routes
    }
}

/// The methods of one service of LiveKit's server API, as routes `POST /twirp/livekit.<Service>/<Method>` (Twirp specification, version 7).
///
/// A request is checked in LiveKit's order: token, content type, body, limits (of the methods that have them), grant; then the method looks
/// up what the request names.
struct TwirpService: Sendable {
    /// Such as `RoomService`.
    let name: String
    let keys: KeysInUse
    /// Whether this node of a cluster serves the methods. Throws an `HTTPErrorConvertible`.
    var check: @Sendable () async throws -> Void = {}

    /// - Parameters:
    ///   - grantNames: the grant in Markdown.
    ///   - limits: throws if the request exceeds a limit that LiveKit checks before the grant.
    ///   - perform: any error that it throws becomes a Twirp error.
    func method<Request: Message & Sendable, Response: Message>(
        _ method: String, _ summary: String, _ grantNames: String,
        limits: @escaping @Sendable (Request) throws(TwirpError) -> Void = { _ throws(TwirpError) in },
        grant: @escaping @Sendable (Request) -> AdminGrant,
        perform: @escaping @Sendable (Request, HTTPServerRequest) async throws -> Response
    ) -> Route {
        let access = Access<AccessToken?>.token(grantNames) { [keys] request in try Self.token(of: request, keys) }
        return Route(
            .post, RoutePath(stringLiteral: "\(TwirpError.pathPrefix)livekit.\(name)/\(method)"), summary, access: access,
            responses: [.json(Schema.named("LiveKitMessage", .map(of: .anything)))] + Self.errors
        ) { request, token in
            let format = try TwirpFormat(of: request)
            let message: Request = try format.decode(request.body)
            try limits(message)
            do {
                guard let token else { throw TokenError.missing }
                try grant(message).check(token)
                try await check()
                return try format.response(try await perform(message, request))
            } catch let error as TwirpError {
                throw error
            } catch let error as any HTTPErrorConvertible {
                throw TwirpError(error.httpError)
            }
        }
    }

    /// A method that the gateway does not have, with the reason.
    func unimplemented<Request: Message & Sendable>(
        _ method: String, _ grantNames: String, grant: @escaping @Sendable (Request) -> AdminGrant, _ reason: String
    ) -> Route {
        self.method(method, "Not implemented", grantNames, grant: grant) { (_, _) throws(TwirpError) -> Request in
            throw TwirpError(.unimplemented, reason)
        }
    }

    /// The verified token of a request; nil without one, which is refused with the grant.
    private static func token(of request: HTTPServerRequest, _ keys: KeysInUse) throws -> AccessToken? {
        do throws(TokenError) {
            let text = try RequestToken.extract(
                authorization: request.headers[.authorization], subprotocols: [], query: request.query("access_token"))
            return try TokenVerifier().verify(text, keys: keys.current, now: WallClock.seconds)
        } catch .missing {
            return nil
        }
    }

    private static let errors: [RouteOutcome] = [
        .badRequest, .unauthorized, .forbidden, .notFound, .requestTimeout, .conflict, .contentTooLarge, .preconditionFailed,
        .tooManyRequests, .internalServerError, .notImplemented, .serviceUnavailable,
    ].map { .json(TwirpError.schema, status: $0) }
}

/// The encoding of a request, which its response has too.
private enum TwirpFormat {
    case protobuf, json

    /// Maximum nesting of messages.
    private static let depthMax = 32

    /// Parameters of the content type, such as a charset, do not matter.
    init(of request: HTTPServerRequest) throws(TwirpError) {
        let essence = (request.headers[.contentType] ?? "").prefix { $0 != ";" }.filter { $0 != " " }.lowercased()
        switch essence {
        case "application/protobuf": self = .protobuf
        case "application/json": self = .json
        default: throw TwirpError(badRoute: request, "send the body as application/json or application/protobuf")
        }
    }

    /// Unknown fields are ignored.
    func decode<Request: Message>(_ body: [UInt8]) throws(TwirpError) -> Request {
        do {
            switch self {
            case .protobuf:
                var options = BinaryDecodingOptions()
                options.messageDepthLimit = Self.depthMax
                return try Request(serializedBytes: body, options: options)
            case .json:
                var options = JSONDecodingOptions()
                options.messageDepthLimit = Self.depthMax
                options.ignoreUnknownFields = true
                return try Request(jsonUTF8Bytes: body, options: options)
            }
        } catch {
            let format = self == .json ? "in JSON" : "of Protocol Buffers"
            throw TwirpError(.malformed, "the body is not a \(Request.protoMessageName) \(format)")
        }
    }

    func response(_ message: some Message) throws -> HTTPServerResponse {
        switch self {
        case .protobuf:
            HTTPServerResponse(status: .ok, fields: [.contentType: "application/protobuf"], body: try message.serializedBytes())
        case .json:
            HTTPServerResponse(status: .ok, fields: [.contentType: "application/json"], body: try LiveKitJSON.shared.bytes(of: message))
        }
    }
}
