import ca.uhn.fhir.context.FhirContext;
import ca.uhn.fhir.parser.StrictErrorHandler;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;

/** Reads one resource a line, strictly, and writes it again as HAPI does. */
public class RoundTrip {
    public static void main(String[] arguments) throws Exception {
        var context = FhirContext.forR4();
        context.setParserErrorHandler(new StrictErrorHandler());
        var input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        var output = new java.io.PrintStream(System.out, true, StandardCharsets.UTF_8);
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            try {
                var parser = context.newJsonParser().setStripVersionsFromReferences(false);
                output.println(parser.encodeResourceToString(parser.parseResource(line)));
            } catch (Exception error) {
                output.println("! " + error.getMessage().replace('\n', ' '));
            }
        }
    }
}
