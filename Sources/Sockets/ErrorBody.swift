internal import Wire

/// `{"code","message"}`, which every error's body is.
struct ErrorBody: Encodable {
    var code: String
    var message: String

    var json: [UInt8] { (try? JSON.encode(self, names: .asDeclared)) ?? [] }
}
