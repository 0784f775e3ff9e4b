import Testing
import Wire

@testable import Cluster

struct NATSReplyTests {
    private func message(data: String? = nil, headers: String? = nil) -> [UInt8] {
        var members = [#""seq":7"#]
        if let data { members.append("\"data\":\"\(Base64.standard.encode(data.utf8))\"") }
        if let headers { members.append("\"hdrs\":\"\(Base64.standard.encode(headers.utf8))\"") }
        return Array("{\"message\":{\(members.joined(separator: ","))}}".utf8)
    }

    @Test func recordsHaveValueAndRevision() throws {
        #expect(try NATSReply.entry(message(data: "value")).get()?.record == StoredRecord(value: Array("value".utf8), revision: 7))
        #expect(try NATSReply.entry(message()).get()?.record.value == [])
        #expect(try NATSReply.entry(Array(#"{"error":{"code":404,"err_code":10037,"description":"no message found"}}"#.utf8)).get() == nil)
    }

    @Test(arguments: [
        "KV-Operation: DEL", "KV-Operation:PURGE", "Nats-Rollup: sub\r\nKV-Operation: PURGE", "Nats-Marker-Reason: MaxAge",
    ])
    func markersOfDeletedRecordsAreFound(_ header: String) throws {
        #expect(try NATSReply.entry(message(headers: "NATS/1.0\r\n\(header)\r\n\r\n")).get()?.isMarker == true)
    }

    @Test(arguments: ["KV-Operation: PUT", "Nats-Expected-Last-Subject-Sequence: 4", "KV-Operation", ""])
    func otherHeadersMakeNoMarker(_ header: String) throws {
        #expect(try NATSReply.entry(message(data: "value", headers: "NATS/1.0\r\n\(header)\r\n\r\n")).get()?.isMarker == false)
    }

    @Test(arguments: [
        "", "{", "[]", "null", "{}", "true", #"{"message":{}}"#, #"{"message":{"seq":0}}"#, #"{"message":{"seq":-1,"data":""}}"#,
        #"{"message":{"seq":1,"data":"%%%"}}"#, #"{"message":{"seq":1,"data":5}}"#, #"{"message":{"seq":1,"hdrs":"*"}}"#, #"{"error":7}"#,
        #"{"seq":1}"#, #"{"stream":"KV_other","seq":1}"#, #"{"stream":"KV_b","seq":0}"#, #"{"stream":"KV_b"}"#, "\u{0}\u{1}",
    ])
    func garbageIsNoAnswer(_ text: String) {
        #expect(NATSReply.entry(Array(text.utf8)) == .failure(.unavailable))
        #expect(NATSReply.revision(Array(text.utf8), stream: "KV_b") == .failure(.unavailable))
    }

    @Test func errorsOfWritesTellWhetherTheyMayBeRepeated() {
        func outcome(_ error: String) -> Result<UInt64, BrokerError> {
            NATSReply.revision(Array(#"{"stream":"KV_b","seq":0,"error":{\#(error)}}"#.utf8), stream: "KV_b")
        }
        #expect(outcome(#""code":400,"err_code":10071,"description":"wrong last sequence: 3""#) == .failure(.conflict))
        #expect(outcome(#""code":400,"err_code":10164,"description":"wrong last sequence""#) == .failure(.conflict))
        #expect(outcome(#""code":503,"err_code":10008,"description":"JetStream system temporarily unavailable""#) == .failure(.unavailable))
        #expect(outcome(#""code":404,"err_code":10059,"description":"stream not found""#) == .failure(.unavailable))
        #expect(
            outcome(#""code":400,"err_code":10054,"description":"message size exceeds maximum allowed""#)
                == .failure(.refused("message size exceeds maximum allowed")))
        #expect(NATSReply.revision(Array(#"{"stream":"KV_b","seq":12}"#.utf8), stream: "KV_b") == .success(12))
    }

    @Test func settingsAreChecked() {
        for server in [
            "", "localhost", "user:secret@localhost:4222", "http://localhost:4222", "localhost:port", ":4222", "a b:1", "[x y]:1",
        ] {
            #expect(NATSSettings.host(of: server) == nil, "\(server)")
        }
        #expect(NATSSettings.host(of: "nats.example:4222") == "nats.example")
        #expect(NATSSettings.host(of: "tls://[::1]:4222") == "::1")
        for key in ["", ".", "a.", ".a", "a..b", "a b", "a*", "a>", "a/b", "ä", "a\r\nPUB x 0", String(repeating: "k", count: 1_025)] {
            #expect(!NATSSettings.isKey(key), "\(key)")
        }
        for key in ["a", "A.b-c_d=9", String(repeating: "k", count: 1_024)] { #expect(NATSSettings.isKey(key)) }
    }

    @Test func descriptionsShowNoSecrets() {
        var settings = NATSSettings(servers: ["localhost:4222"], bucket: "b", subjects: [])
        for credentials in [NATSSettings.Credentials.user("node", password: "tops3cret"), .token("tops3cret")] {
            settings.credentials = credentials
            var dumped = ""
            dump(settings, to: &dumped)
            #expect(!"\(settings) \(String(reflecting: settings)) \(dumped)".contains("tops3cret"))
        }
    }
}
