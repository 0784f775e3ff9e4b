internal import HTTPTypes
internal import Sockets
public import Wire

/// What an administrator sees and may do, over HTTPS against a running gateway.
///
///     let administrator = try GatewayAdministrator(url: "https://127.0.0.1:7880", token: token, trust: .authority(path: "ca.cert.pem"))
///     for room in try await administrator.rooms() { print(room.name, room.numParticipants) }
///
/// Each call is a connection of its own. All throw `AdministrationError`.
public struct GatewayAdministrator: Sendable {
    private let address: GatewayAddress
    private let token: String
    private let trust: TLSTrust
    private let timeout: Duration

    /// - Parameters:
    ///   - url: `https://host[:port]` or `wss://host[:port]`; the port defaults to 7880.
    ///   - token: an access token (JWT) with the grants that the calls name.
    ///   - timeout: how long each call may take.
    /// - Throws: `AdministrationError.unreachable` for a URL that cannot be used.
    public init(url: String, token: String, trust: TLSTrust = .system, timeout: Duration = .seconds(15)) throws(AdministrationError) {
        do throws(ConnectError) { address = try GatewayAddress(url) } catch { throw .unreachable(error) }
        self.token = token
        self.trust = trust
        self.timeout = timeout
    }

    /// All rooms that are open. Needs the grant `roomList`.
    public func rooms() async throws(AdministrationError) -> [RoomSummary] {
        try await ask("GET", [], RoomList.self).rooms
    }

    /// A room and who is in it, with their tracks. Needs `roomAdmin` for it.
    public func room(_ name: String) async throws(AdministrationError) -> RoomDetail {
        try await ask("GET", [name], RoomDetail.self)
    }

    /// Closes a room and sends everybody away. Needs `roomCreate`.
    public func deleteRoom(_ name: String) async throws(AdministrationError) {
        _ = try await ask("DELETE", [name], Nothing.self)
    }

    /// Sends a participant away; its client does not come back by itself. Needs `roomAdmin` for the room.
    public func remove(_ participant: Identity, from room: String) async throws(AdministrationError) {
        _ = try await ask("DELETE", [room, "participants", participant.text], Nothing.self)
    }

    /// Mutes a track, or takes that back. Needs `roomAdmin` for the room.
    public func mute(_ track: TrackSID, in room: String, muted: Bool = true) async throws(AdministrationError) {
        _ = try await ask("PATCH", [room, "tracks", track.text], body: Array(#"{"muted":\#(muted)}"#.utf8), Nothing.self)
    }

    private func ask<Answer: Decodable>(
        _ method: String, _ path: [String], body: [UInt8] = [], _: Answer.Type
    ) async throws(AdministrationError) -> Answer {
        let endpoint = Endpoint(host: address.host, port: address.port, path: AdministrationCoding.path(path))
        var fields: HTTPFields = [.authorization: "Bearer \(token)"]
        if !body.isEmpty { fields[.contentType] = "application/json" }
        let client: HTTPClient
        do {
            client = try await HTTPClient(trusting: trust.settings)
        } catch {
            throw .unreachable(ConnectError(settingUp: error))
        }
        let answer: HTTPAnswer
        do throws(HTTPClientError) {
            answer = try await client.send(HTTPClientRequest(method, endpoint, fields: fields, body: body, timeout: timeout))
        } catch {
            throw .unreachable(ConnectError(error, at: address))
        }
        return try AdministrationCoding.decode(answer)
    }

    private struct RoomList: Decodable {
        var rooms: [RoomSummary]
    }

    private struct Nothing: Decodable {}
}
