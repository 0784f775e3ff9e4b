import Foundation
import Identity
import PatchbayClient
import Wire

/// Access with tokens of the development key.
extension ServedGateway {
    static var options: RoomOptions {
        RoomOptions(trust: .authority(path: Program.package.appending(path: "certs/dev/ca.cert.pem").path))
    }

    private static func token(_ identity: String, _ grant: VideoGrant) throws -> String {
        let keys = try KeyRing([IssuerSettings(issuer: "devkey", algorithm: .hs256, key: SecretText("secret"))])
        guard let signer = keys.signer else { throw Program.Missing(what: "the signer of the development key") }
        let expires = Int64(Date().timeIntervalSince1970) + 600
        return try TokenMinter.mint(AccessToken(identity: identity, expires: expires, video: grant), with: signer)
    }

    /// With the grant `roomCreate`.
    func administrator() throws -> GatewayAdministrator {
        var grant = VideoGrant()
        grant.roomCreate = true
        return try GatewayAdministrator(url: url, token: Self.token("", grant), trust: Self.options.trust)
    }

    func join(_ room: String, as identity: String) async throws -> RoomConnection {
        try await RoomConnection.connect(url: url, token: Self.token(identity, .joining(room)), options: Self.options)
    }
}

/// Waits for a condition for up to 60 s.
func eventually(_ what: String, _ condition: () async throws -> Bool) async throws {
    for _ in 0..<1_200 {
        if try await condition() { return }
        try await Task.sleep(for: .milliseconds(50))
    }
    throw Program.Missing(what: what)
}
