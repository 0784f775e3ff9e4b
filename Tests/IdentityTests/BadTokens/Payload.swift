/// The JSON of a token's claims, kept as raw text so that it can be wrong in every way.
struct Payload {
    private var members: [(name: String, json: String)]

    /// Everything that a participant's token needs, valid at `Issuers.now`.
    init(issuer: String = Issuers.hs) {
        members = [
            ("iss", "\"\(issuer)\""), ("sub", "\"ana\""), ("nbf", "\(Issuers.now - 10)"), ("exp", "\(Issuers.now + 3_600)"),
            ("video", #"{"room":"den","roomJoin":true}"#),
        ]
    }

    /// Replaces the member `name`, or adds it.
    func with(_ name: String, _ json: String) -> Payload {
        var copy = self
        if let place = members.firstIndex(where: { $0.name == name }) {
            copy.members[place].json = json
        } else {
            copy.members.append((name, json))
        }
        return copy
    }

    /// Adds a member even if there is one of that name.
    func adding(_ name: String, _ json: String) -> Payload {
        var copy = self
        copy.members.append((name, json))
        return copy
    }

    func without(_ name: String) -> Payload {
        var copy = self
        copy.members.removeAll { $0.name == name }
        return copy
    }

    var text: String {
        "{" + members.map { "\"\($0.name)\":\($0.json)" }.joined(separator: ",") + "}"
    }

    /// Signed as the issuer with the secret does.
    var token: String {
        Forge.token(payload: text, .secret(Issuers.secret))
    }
}
