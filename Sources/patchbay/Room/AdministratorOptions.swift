import ArgumentParser
import Foundation
import Identity
import PatchbayClient

/// Options shared by the administration commands: the gateway's URL and a key to sign with.
struct AdministratorOptions: ParsableArguments {
    @OptionGroup var gateway: GatewayOptions
    @OptionGroup var key: APIKeyOptions
    @Flag(help: "Print JSON.")
    var json = false

    /// An administrator whose token is valid for one minute and one grant.
    func administrator(_ grant: (inout VideoGrant) -> Void) throws -> GatewayAdministrator {
        var video = VideoGrant()
        grant(&video)
        let now = Int64(Date().timeIntervalSince1970)
        let token = try TokenMinter.mint(
            AccessToken(identity: "", notBefore: now - 5, expires: now + 60, video: video), with: key.signer())
        return try GatewayAdministrator(url: gateway.url, token: token, trust: gateway.trust())
    }

    /// An administrator of one room.
    func administrator(of room: String) throws -> GatewayAdministrator {
        try administrator { grant in
            grant.roomAdmin = true
            grant.room = room
        }
    }

    func printJSON(_ value: some Encodable) throws {
        try Console.say(json: value)
    }

    /// Reports success: a sentence, or an empty object with `--json`.
    func printDone(_ sentence: String) {
        Console.say(json ? "{}" : sentence)
    }
}
