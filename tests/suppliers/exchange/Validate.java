import com.helger.commons.error.IError;
import com.helger.commons.io.resource.FileSystemResource;
import com.helger.diver.api.coord.DVRCoordinate;
import com.helger.phive.api.execute.ValidationExecutionManager;
import com.helger.phive.api.executorset.IValidationExecutorSet;
import com.helger.phive.api.executorset.ValidationExecutorSetRegistry;
import com.helger.phive.api.result.ValidationResult;
import com.helger.phive.en16931.EN16931Validation;
import com.helger.phive.peppol.PeppolValidation;
import com.helger.phive.xml.source.IValidationSourceXML;
import com.helger.phive.xml.source.ValidationSourceXML;
import java.io.File;
import java.util.Locale;

/** Validates pairs of an artifact of eu.peppol.bis3 and a file by the newest rules; prints a line for each finding. */
public class Validate {
    public static void main(String[] arguments) {
        ValidationExecutorSetRegistry<IValidationSourceXML> registry = new ValidationExecutorSetRegistry<>();
        EN16931Validation.initEN16931(registry);
        PeppolValidation.initStandard(registry);
        for (int n = 0; n < arguments.length; n += 2) {
            IValidationExecutorSet<IValidationSourceXML> rules = newest(registry, arguments[n]);
            for (ValidationResult layer : ValidationExecutionManager.executeValidation(
                    rules, ValidationSourceXML.create(new FileSystemResource(new File(arguments[n + 1]))), Locale.ENGLISH)) {
                for (IError one : layer.getErrorList()) {
                    System.out.println(arguments[n] + " " + one.getErrorLevel().getID() + " " + one.getAsStringLocaleIndepdent());
                }
            }
            System.out.println(arguments[n] + " done " + rules.getID().getAsSingleID());
        }
    }

    private static IValidationExecutorSet<IValidationSourceXML> newest(
            ValidationExecutorSetRegistry<IValidationSourceXML> registry, String artifact) {
        IValidationExecutorSet<IValidationSourceXML> found = null;
        for (IValidationExecutorSet<IValidationSourceXML> one : registry.getAll()) {
            DVRCoordinate id = one.getID();
            if (id.getGroupID().equals("eu.peppol.bis3") && id.getArtifactID().equals(artifact)
                    && (found == null || id.compareTo(found.getID()) > 0)) {
                found = one;
            }
        }
        if (found == null) {
            for (IValidationExecutorSet<IValidationSourceXML> one : registry.getAll()) {
                System.out.println("known " + one.getID().getAsSingleID());
            }
            throw new IllegalArgumentException(artifact);
        }
        return found;
    }
}
