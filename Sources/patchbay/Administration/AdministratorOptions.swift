import ArgumentParser
import Identity
import PatchbayClient

/// Options shared by the administration commands, each of which makes one request: the gateway, a key to sign with, and the output.
struct AdministratorOptions: ParsableArguments {
    @OptionGroup var gateway: GatewayOptions
    @OptionGroup var key: APIKeyOptions
    @Flag(help: "Print JSON.")
    var json = false
    @Flag(
        help: "Print a curl command that makes the request, instead of making it. It contains a token, which is valid for one minute.")
    var curl = false

    /// Makes a request with a token that is valid for one minute and one grant. With `--curl`, prints it as a command instead.
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
        if curl { return Console.say(try administrator.curl(request).map(Shell.quoted).joined(separator: " ")) }
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

/// Words of a shell command.
enum Shell {
    /// The word as it is if all shells take it literally, else in single quotes (POSIX.1-2024, Shell Command Language, section 2.2.2).
    static func quoted(_ word: String) -> String {
        if word.wholeMatch(of: /[A-Za-z0-9_@%+:,.\/-]+/) != nil { return word }
        return "'" + word.replacing("'", with: #"'\''"#) + "'"
    }
}
