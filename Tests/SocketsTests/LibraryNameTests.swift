import CLibwebsockets
import Testing

/// The names of fields that libwebsockets knows, which `LibraryRequestTests` lists.
struct LibraryNameTests {
    @Test func allNamesOfTheInstalledLibraryAreListed() {
        let names = (0..<WSI_TOKEN_COUNT.rawValue).compactMap { lws_token_to_string(lws_token_indexes($0)).map { String(cString: $0) } }
        let fields = names.filter { $0.first?.isLetter == true && $0.hasSuffix(":") }.map { String($0.dropLast()) }
        #expect(fields.count > 50)
        #expect(Set(fields).subtracting(LibraryRequestTests.known) == [])
    }
}
