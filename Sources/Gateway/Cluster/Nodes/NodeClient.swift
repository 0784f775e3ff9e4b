internal import HTTPServer
internal import HTTPTypes
internal import Identity
internal import OutgoingHTTP
internal import Sockets
internal import Wire

/// Forwards HTTP requests to other nodes of the cluster.
///
/// Only errors of this node's own routes name a node (`HTTPError.elsewhere`), so nobody else chooses the destination. The other node verifies
/// the request's token itself.
struct NodeClient: Sendable {
    private let client: OutgoingClient
    private let serverName: String?

    private static let timeout = Duration.seconds(30)
    private static let responseBytesMax = 64 << 20
    /// Maximum length of the response to a forwarded request: a recording of a day at 24 kbit/s has 260 MB.
    private static let forwardedBytesMax = 512 << 20

    /// - Parameter serverName: in the certificates of nodes; nil for the hosts of their addresses.
    init(trust: ClientTrust, serverName: String? = nil) throws {
        self.serverName = serverName
        var authority: String?
        if case .authority(let path) = trust { authority = path }
        client = try OutgoingClient(authority: authority)
    }

    /// - Returns: the other node's response; nil if there is none.
    func forward(_ request: ReceivedRequest, body: [UInt8], to address: NodeAddress) async -> HTTPServerResponse? {
        let fields = request.forwardedFields().filter { !Self.requestFields.contains($0.name) }
        let outgoing = OutgoingHTTPRequest(
            url: url(address, request.head.target), connectTo: address.description, method: request.head.method.rawValue,
            headers: fields.map { OutgoingHeader($0.name.canonicalName, $0.value) }, body: body)
        return await send(outgoing, bytesMax: Self.forwardedBytesMax)
    }

    /// Sends a sealed batch of messages.
    ///
    /// - Returns: whether the other node has accepted it.
    func post(_ batch: [UInt8], to address: NodeAddress) async -> Bool {
        let request = OutgoingHTTPRequest(
            url: url(address, Self.messagesPath), connectTo: address.description,
            headers: [OutgoingHeader("content-type", "application/octet-stream")], body: batch)
        return await send(request, timeout: Self.messagesTimeout)?.status == .noContent
    }

    /// Asks another node.
    ///
    /// - Returns: its response, with any status.
    func ask(_ sealed: [UInt8], path: String, at address: NodeAddress) async throws(OutgoingError) -> HTTPServerResponse {
        let request = OutgoingHTTPRequest(
            url: url(address, path), connectTo: address.description,
            headers: [OutgoingHeader("content-type", "application/octet-stream")], body: sealed)
        return try await exchange(request, timeout: Self.messagesTimeout)
    }

    /// The path of a node's route for messages of other nodes.
    static let messagesPath = "/cluster/messages"
    private static let messagesTimeout = Duration.seconds(2)

    /// Closes a room at its home, by LiveKit's server API: names of rooms may contain any character.
    func close(_ room: String, at address: NodeAddress, signedBy key: IssuerKey) async -> Bool {
        let now = WallClock.seconds
        var video = VideoGrant()
        video.roomCreate = true
        let claims = AccessToken(identity: "", notBefore: now, expires: now + 60, video: video)
        guard let token = try? TokenMinter.mint(claims, with: key), let body = try? JSON.encode(["room": room], names: .asDeclared) else {
            return false
        }
        let request = OutgoingHTTPRequest(
            url: url(address, "/twirp/livekit.RoomService/DeleteRoom"), connectTo: address.description,
            headers: [
                OutgoingHeader("authorization", "Bearer \(token)"), OutgoingHeader("content-type", "application/json"),
                OutgoingHeader(HTTPField.Name.patchbayHops.canonicalName, "1"),
            ], body: body)
        guard let status = await send(request)?.status else { return false }
        return status.kind == .successful || status == .notFound
    }

    private func url(_ address: NodeAddress, _ target: String) -> String {
        "https://\(serverName.map { "\($0):\(address.port)" } ?? address.description)\(target)"
    }

    private func send(
        _ request: OutgoingHTTPRequest, timeout: Duration = timeout, bytesMax: Int = responseBytesMax
    ) async -> HTTPServerResponse? {
        try? await exchange(request, timeout: timeout, bytesMax: bytesMax)
    }

    private func exchange(
        _ request: OutgoingHTTPRequest, timeout: Duration, bytesMax: Int = responseBytesMax
    ) async throws(OutgoingError) -> HTTPServerResponse {
        let stream = try await client.open(request, timeout: timeout)
        let body = try await stream.body(bytesMax: bytesMax)
        var response = HTTPServerResponse(status: HTTPResponse.Status(code: stream.status), body: body)
        for (name, value) in stream.fields {
            guard let name = HTTPField.Name(name), !Self.ownFields.contains(name) else { continue }
            response.fields[name] = value
        }
        return response
    }

    /// libcurl writes them.
    private static let requestFields = Set(["Host", "Accept-Encoding"].compactMap { HTTPField.Name($0) })
    /// This node's response has its own.
    private static let ownFields: Set<HTTPField.Name> = [
        .connection, .contentLength, .transferEncoding, .date, .server, .patchbayElsewhere,
    ]
}
