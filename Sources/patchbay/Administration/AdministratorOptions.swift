import ArgumentParser
import Identity
import PatchbayClient

/// Options shared by the administration commands, each of which makes one request: the gateway, a key to sign with, and the output.
struct AdministratorOptions: ParsableArguments {
    @OptionGroup var gateway: GatewayOptions
    @OptionGroup var key: APIKeyOptions
    @Flag(help: "Print JSON.")
    var json = false

    /// Makes a request with a token that is valid for one minute and one grant.
    ///
    /// - Parameter report: prints the response.
    func perform<Value>(
        _ request: AdministrationRequest<Value>, granted grant: (inout VideoGrant) -> Void, report: (Value) throws -> Void
    ) async throws {
        var video = VideoGrant()
        grant(&video)
        let access = try gateway.access(with: key)
        let token = try access.signer().token("", seconds: 60, video: video)
        let administrator = try GatewayAdministrator(url: access.url, token: token, trust: access.trust())
        try report(try await administrator.send(request))
    }

    /// Makes a request as the administrator of one room.
    func perform<Value>(_ request: AdministrationRequest<Value>, in room: String, report: (Value) throws -> Void) async throws {
        let grant = { (grant: inout VideoGrant) in
            grant.roomAdmin = true
            grant.room = room
        }
        try await perform(request, granted: grant, report: report)
    }

    /// Reports success: a sentence, or an empty object with `--json`.
    func printDone(_ sentence: String) {
        Console.say(json ? "{}" : sentence)
    }
}
