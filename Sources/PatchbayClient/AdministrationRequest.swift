internal import NIOHTTP1
package import Wire

/// One administration call: an HTTP request below `/v1/rooms`, and how its response is read. `GatewayAdministrator` sends it.
package struct AdministrationRequest<Value: Sendable>: Sendable {
    let method: HTTPMethod
    /// JSON; empty for none.
    let body: [UInt8]
    let decode: @Sendable (HTTPExchangeResponse) throws(AdministrationError) -> Value
    /// The path below `/v1/rooms`, not escaped.
    private let path: [String]

    private init<Response: Decodable & SendableMetatype>(
        _ method: HTTPMethod, _ path: [String], body: [UInt8] = [], _ value: @escaping @Sendable (Response) -> Value
    ) {
        self.method = method
        self.path = path
        self.body = body
        decode = { (response: HTTPExchangeResponse) throws(AdministrationError) -> Value in
            value(try AdministrationCoding.decode(response))
        }
    }

    /// The request target, escaped.
    ///
    /// - Throws: `AdministrationError.unaddressable`.
    func target() throws(AdministrationError) -> String {
        if let name = path.first(where: { !AdministrationCoding.isAddressable($0) }) { throw .unaddressable(name) }
        return (["", "v1", "rooms"] + path.map(GatewayHTTP.escaped)).joined(separator: "/")
    }
}

extension AdministrationRequest where Value == [RoomSummary] {
    package static var rooms: Self { Self(.GET, []) { (list: RoomList) in list.rooms } }
}

extension AdministrationRequest where Value == RoomDetail {
    package static func room(_ name: String) -> Self { Self(.GET, [name]) { (detail: RoomDetail) in detail } }
}

extension AdministrationRequest where Value == Void {
    package static func deleteRoom(_ name: String) -> Self { Self(.DELETE, [name]) { (_: Empty) in } }

    package static func remove(_ participant: Identity, from room: String) -> Self {
        Self(.DELETE, [room, "participants", participant.text]) { (_: Empty) in }
    }

    package static func mute(_ track: TrackSID, in room: String, muted: Bool) -> Self {
        Self(.PATCH, [room, "tracks", track.text], body: Array(#"{"muted":\#(muted)}"#.utf8)) { (_: Empty) in }
    }
}

extension AdministrationRequest where Value == JobInfo {
    package static func dispatch(_ assistant: String, to room: String, metadata: String) -> Self {
        let body = GatewayHTTP.body(["assistant": assistant, "metadata": metadata], names: .asDeclared)
        return Self(.POST, [room, "agents"], body: body) { (reply: JobReply) in reply.job }
    }

    package static func endJob(_ id: JobID, in room: String) -> Self {
        Self(.DELETE, [room, "agents", id.text]) { (reply: JobReply) in reply.job }
    }
}

extension AdministrationRequest where Value == [JobInfo] {
    package static func jobs(in room: String) -> Self { Self(.GET, [room, "agents"]) { (list: JobList) in list.jobs } }
}

private struct RoomList: Decodable {
    var rooms: [RoomSummary]
}

private struct JobReply: Decodable {
    var job: JobInfo
}

private struct JobList: Decodable {
    var jobs: [JobInfo]
}

private struct Empty: Decodable {}

/// Paths and response bodies of `/v1/rooms…`.
private enum AdministrationCoding {
    /// Gateways decode a path before they split it, and remove empty and dot segments.
    static func isAddressable(_ name: String) -> Bool {
        !["", ".", ".."].contains(name) && !name.utf8.contains { "/\n\r".utf8.contains($0) }
    }

    static func decode<Value: Decodable>(_ response: HTTPExchangeResponse) throws(AdministrationError) -> Value {
        guard (200..<300).contains(response.status) else {
            guard let error = GatewayErrorBody(response) else { throw .badAnswer(status: response.status) }
            throw .refused(status: response.status, code: error.code, message: error.message)
        }
        guard let value = try? JSON.decode(Value.self, from: response.body, names: .snakeCase) else {
            throw .badAnswer(status: response.status)
        }
        return value
    }
}
