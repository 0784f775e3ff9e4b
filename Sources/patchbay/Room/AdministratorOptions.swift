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

/// A text table with columns as wide as their content.
struct Table {
    private var rows: [[String]]

    init(_ heads: String...) {
        rows = [heads]
    }

    mutating func add(_ cells: String...) {
        add(cells)
    }

    mutating func add(_ cells: [String]) {
        rows.append(cells)
    }

    var text: String {
        let widths = (rows.first ?? []).indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            zip(row, widths).map { cell, width in cell + String(repeating: " ", count: width - cell.count) }.joined(separator: "  ")
                .trimmingSuffix { $0 == " " }
        }.joined(separator: "\n")
    }

    /// ISO 8601.
    static func time(_ seconds: Int64) -> String {
        Date(timeIntervalSince1970: TimeInterval(seconds)).formatted(.iso8601)
    }
}

extension String {
    fileprivate func trimmingSuffix(while isMeant: (Character) -> Bool) -> String {
        var text = self
        while let last = text.last, isMeant(last) { text.removeLast() }
        return text
    }
}
