public import Foundation
internal import NIOHTTP1
internal import Wire

/// The installations of an app that the gateway wakes for calls and summaries (docs/protocol/calls.md, "Sleeping phones").
///
/// Register at each start of the app: a changed or reset password removes all of them. Remove the installation before a logout.
public struct PushDevices: Sendable {
    let account: Account

    public enum Platform: String, Sendable, Hashable, Codable, CaseIterable {
        case ios, android, web
    }

    public struct Device: Sendable, Hashable, Decodable {
        public var id: String
        public var platform: Platform
        public var registeredAt: Date

        private enum CodingKeys: String, CodingKey { case id, platform, registeredAt }

        public init(from decoder: any Decoder) throws {
            let fields = try decoder.container(keyedBy: CodingKeys.self)
            id = try fields.decode(String.self, forKey: .id)
            platform = try fields.decode(Platform.self, forKey: .platform)
            registeredAt = try fields.decodeTime(forKey: .registeredAt)
        }
    }

    /// Registers this installation. The same token keeps its id.
    ///
    /// - Parameters:
    ///   - token: the push service's token; for iOS, that for VoIP pushes, in hexadecimal.
    ///   - alertToken: the token for alerts about summaries, in hexadecimal; iOS only.
    /// - Throws: `AccountError`.
    @discardableResult
    public func register(_ platform: Platform, token: String, alertToken: String? = nil) async throws(AccountError) -> Device {
        let body = RegistrationBody(platform: platform, pushToken: token, alertToken: alertToken)
        return try await account.send(.POST, "/v1/devices", body: GatewayHTTP.body(body), Device.self)
    }

    /// Returns the user's registered installations.
    public func list() async throws(AccountError) -> [Device] {
        try await account.send(.GET, "/v1/devices", [Device].self)
    }

    /// Removes an installation; it is not woken any more.
    public func remove(_ id: String) async throws(AccountError) {
        guard UUID(uuidString: id) != nil else {
            throw .refused(GatewayRefusal(status: 404, code: .notFound, message: "there is no device with the id \"\(id)\""))
        }
        _ = try await account.send(.DELETE, "/v1/devices/\(id)")
    }

    private struct RegistrationBody: Encodable {
        var platform: Platform
        var pushToken: String
        var alertToken: String?
    }
}
